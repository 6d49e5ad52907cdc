/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/syscalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SHARED_FIRST = 424 }; /* from here on all machines have the same numbers */

/* Names in the order of their numbers, as LTTng has them; "-" is a number without a call.
 */
/* clang-format off */
static const char x86_64[] =
	"read write open close newstat newfstat newlstat poll lseek mmap mprotect "
	"munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 "
	"readv writev access pipe select sched_yield mremap msync mincore madvise "
	"shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer "
	"getpid sendfile64 socket connect accept sendto recvfrom sendmsg recvmsg "
	"shutdown bind listen getsockname getpeername socketpair setsockopt "
	"getsockopt clone fork vfork execve exit wait4 kill newuname semget semop "
	"semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock fsync fdatasync "
	"truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat "
	"link unlink symlink readlink chmod fchmod chown fchown lchown umask "
	"gettimeofday getrlimit getrusage sysinfo times ptrace getuid syslog getgid "
	"setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid "
	"setregid getgroups setgroups setresuid getresuid setresgid getresgid getpgid "
	"setfsuid setfsgid getsid capget capset rt_sigpending rt_sigtimedwait "
	"rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib personality "
	"ustat statfs fstatfs sysfs getpriority setpriority sched_setparam "
	"sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max "
	"sched_get_priority_min sched_rr_get_interval mlock munlock mlockall "
	"munlockall vhangup modify_ldt pivot_root sysctl prctl arch_prctl adjtimex "
	"setrlimit chroot sync acct settimeofday mount umount swapon swapoff reboot "
	"sethostname setdomainname iopl ioperm create_module init_module "
	"delete_module get_kernel_syms query_module quotactl nfsservctl getpmsg "
	"putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr "
	"fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
	"removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity "
	"sched_getaffinity set_thread_area io_setup io_destroy io_getevents io_submit "
	"io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old "
	"epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall "
	"semtimedop fadvise64 timer_create timer_settime timer_gettime "
	"timer_getoverrun timer_delete clock_settime clock_gettime clock_getres "
	"clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind "
	"set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive "
	"mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl "
	"ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch "
	"migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat unlinkat "
	"renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll "
	"unshare set_robust_list get_robust_list splice tee sync_file_range vmsplice "
	"move_pages utimensat epoll_pwait signalfd timerfd_create eventfd fallocate "
	"timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 "
	"dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open "
	"recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at "
	"open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu "
	"process_vm_readv process_vm_writev kcmp finit_module sched_setattr "
	"sched_getattr renameat2 seccomp getrandom memfd_create kexec_file_load bpf "
	"execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 "
	"pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq";

/* The kernel's include/uapi/asm-generic/unistd.h: arm64, RISC-V, LoongArch. */
static const char generic[] =
	"io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr "
	"fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
	"removexattr lremovexattr fremovexattr getcwd lookup_dcookie eventfd2 "
	"epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl inotify_init1 "
	"inotify_add_watch inotify_rm_watch ioctl ioprio_set ioprio_get flock mknodat "
	"mkdirat unlinkat symlinkat linkat renameat umount mount pivot_root "
	"nfsservctl statfs fstatfs truncate ftruncate fallocate faccessat chdir "
	"fchdir chroot fchmod fchmodat fchownat fchown openat close vhangup pipe2 "
	"quotactl getdents64 lseek read write readv writev pread64 pwrite64 preadv "
	"pwritev sendfile64 pselect6 ppoll signalfd4 vmsplice splice tee readlinkat "
	"newfstatat newfstat sync fsync fdatasync sync_file_range timerfd_create "
	"timerfd_settime timerfd_gettime utimensat acct capget capset personality "
	"exit exit_group waitid set_tid_address unshare futex set_robust_list "
	"get_robust_list nanosleep getitimer setitimer kexec_load init_module "
	"delete_module timer_create timer_gettime timer_getoverrun timer_settime "
	"timer_delete clock_settime clock_gettime clock_getres clock_nanosleep syslog "
	"ptrace sched_setparam sched_setscheduler sched_getscheduler sched_getparam "
	"sched_setaffinity sched_getaffinity sched_yield sched_get_priority_max "
	"sched_get_priority_min sched_rr_get_interval restart_syscall kill tkill "
	"tgkill sigaltstack rt_sigsuspend rt_sigaction rt_sigprocmask rt_sigpending "
	"rt_sigtimedwait rt_sigqueueinfo rt_sigreturn setpriority getpriority reboot "
	"setregid setgid setreuid setuid setresuid getresuid setresgid getresgid "
	"setfsuid setfsgid times setpgid getpgid getsid setsid getgroups setgroups "
	"newuname sethostname setdomainname getrlimit setrlimit getrusage umask prctl "
	"getcpu gettimeofday settimeofday adjtimex getpid getppid getuid geteuid "
	"getgid getegid gettid sysinfo mq_open mq_unlink mq_timedsend mq_timedreceive "
	"mq_notify mq_getsetattr msgget msgctl msgrcv msgsnd semget semctl semtimedop "
	"semop shmget shmctl shmat shmdt socket socketpair bind listen accept connect "
	"getsockname getpeername sendto recvfrom setsockopt getsockopt shutdown "
	"sendmsg recvmsg readahead brk munmap mremap add_key request_key keyctl clone "
	"execve mmap fadvise64 swapon swapoff mprotect msync mlock munlock mlockall "
	"munlockall mincore madvise remap_file_pages mbind get_mempolicy "
	"set_mempolicy migrate_pages move_pages rt_tgsigqueueinfo perf_event_open "
	"accept4 recvmmsg - - - - - - - - - - - - - - - - wait4 prlimit64 "
	"fanotify_init fanotify_mark - - clock_adjtime syncfs setns sendmmsg "
	"process_vm_readv process_vm_writev kcmp finit_module sched_setattr "
	"sched_getattr renameat2 seccomp getrandom memfd_create bpf execveat "
	"userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect "
	"pkey_alloc pkey_free statx io_pgetevents rseq kexec_file_load";

static const char shared[] =
	"pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree "
	"move_mount fsopen fsconfig fsmount fspick pidfd_open clone3 close_range "
	"openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr "
	"quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self "
	"memfd_secret process_mrelease futex_waitv set_mempolicy_home_node cachestat "
	"fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount "
	"listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal";
/* clang-format on */

/*
 * Arguments of calls that analyses use, in order: descriptors and sizes. "-" is any other
 * argument; strings are recorded only as addresses.
 */
static const struct {
	const char *name, *arguments;
} known[] = {
    {"read", "fd - count"},
    {"write", "fd - count"},
    {"pread64", "fd - count pos"},
    {"pwrite64", "fd - count pos"},
    {"readv", "fd - vlen"},
    {"writev", "fd - vlen"},
    {"preadv", "fd - vlen"},
    {"pwritev", "fd - vlen"},
    {"recvfrom", "fd - size flags"},
    {"sendto", "fd - len flags"},
    {"recvmsg", "fd - flags"},
    {"sendmsg", "fd - flags"},
    {"recvmmsg", "fd - vlen flags"},
    {"sendmmsg", "fd - vlen flags"},
    {"sendfile64", "out_fd in_fd - count"},
    {"accept", "fd"},
    {"accept4", "fd - - flags"},
    {"connect", "fd"},
    {"bind", "fd"},
    {"listen", "fd backlog"},
    {"shutdown", "fd how"},
    {"close", "fd"},
    {"dup2", "oldfd newfd"},
    {"dup3", "oldfd newfd flags"},
    {"fsync", "fd"},
    {"fdatasync", "fd"},
    {"ftruncate", "fd length"},
    {"fallocate", "fd mode offset len"},
    {"lseek", "fd offset whence"},
    {"ioctl", "fd cmd arg"},
    {"fcntl", "fd cmd arg"},
    {"newfstat", "fd"},
    {"getdents64", "fd - count"},
    {"openat", "dfd - flags mode"},
    {"epoll_wait", "epfd - maxevents timeout"},
    {"epoll_pwait", "epfd - maxevents timeout"},
    {"epoll_ctl", "epfd op fd"},
    {"mmap", "addr len prot flags fd offset"},
    {"munmap", "addr len"},
    {"futex", "uaddr op val"},
    {"exit", "error_code"},
    {"exit_group", "error_code"},
    {"kill", "pid sig"},
};

static char *copy_word(const char *words, unsigned index)
{
	size_t length;

	for (; index > 0 && words; index--) {
		words = strchr(words, ' ');
		words += words != NULL;
	}
	length = words ? strcspn(words, " ") : 0;
	return length && *words != '-' ? mem_strndup(words, length) : NULL;
}

char *syscall_name(const char *machine, unsigned number)
{
	if (number >= SHARED_FIRST)
		return copy_word(shared, number - SHARED_FIRST);
	if (!strcmp(machine, "x86_64"))
		return copy_word(x86_64, number);
	return !strcmp(machine, "aarch64") || !strncmp(machine, "riscv", 5) ||
		       !strncmp(machine, "loongarch", 9)
		   ? copy_word(generic, number)
		   : NULL;
}

char *syscall_argument(const char *name, unsigned index)
{
	char *argument = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			argument = copy_word(known[i].arguments, index);
	return argument ? argument : mem_printf("arg%u", index);
}
