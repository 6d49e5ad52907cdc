# SPDX-License-Identifier: GPL-3.0-or-later
from spack.package import *


class Clustertrace(CMakePackage):
    """Offline synchronization and analysis of the traces of a cluster: clocks with bounds,
    one SQLite timeline, and exports of it."""

    license("GPL-3.0-or-later")

    # Until there is an archive: spack dev-build clustertrace@main, in the source tree.
    version("main")

    variant("glpk", default=True, description="Clocks of several nodes at once, clocks that bend")
    variant("gsl", default=True, description="Clocks of several nodes at once, regression")
    variant("snappy", default=True, description="Parquet by an older codec")
    variant("yaml", default=True, description="Recipes and declarations of messages")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("popt")
    depends_on("sqlite@3.37:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("glpk", when="+glpk")
    depends_on("gsl", when="+gsl")
    depends_on("snappy", when="+snappy")
    depends_on("libyaml", when="+yaml")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)] + [
            self.define_from_variant("CT_WITH_" + name.upper(), name)
            for name in ("glpk", "gsl", "snappy", "yaml")
        ]
