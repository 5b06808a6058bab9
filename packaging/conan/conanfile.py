"""libapiserver for Conan 2, from the checkout that this file is in: `conan create packaging/conan`."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps

# The components that may be left out, with the rooms of each (cmake/ApiserverRooms.cmake).
OPTIONAL = {
    "etcd": ["storage.etcd", "storage.kms"],
    "explorer": ["explorer"],
    "generator": ["generator"],
    "http-client": ["client.cpprest", "cpprest"],
    "program": ["program"],
    "rocks": ["storage.rocks"],
    "signals": ["program.signals"],
    "testing": ["testing.storage", "testing.server"],
}


def option(component):
    return "with_" + component.replace("-", "_")


class LibapiserverConan(ConanFile):
    name = "libapiserver"
    version = "0.1.0"
    description = "The Kubernetes API server as an embeddable C++20 library"
    license = "Apache-2.0"
    topics = ("kubernetes", "apiserver", "embedded")
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {option(component): [True, False] for component in OPTIONAL}
    default_options = {option(component): component in ("signals", "testing") for component in OPTIONAL}

    def export_sources(self):
        checkout = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "lib/*"):
            copy(self, pattern, checkout, self.export_sources_folder)

    def layout(self):
        self.folders.build = "build"
        self.folders.generators = os.path.join("build", "conan")

    def has(self, component):
        return bool(getattr(self.options, option(component)))

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libapiserver uses interfaces of Linux")
        missing = [option(one) for one in ("etcd", "explorer", "rocks", "signals") if not self.has(one)]
        if self.has("program") and missing:
            raise ConanInvalidConfiguration("with_program also needs " + ", ".join(missing))

    # Nothing of these is in a public header; programs link them.
    def requirements(self):
        for needed in ("boost/[>=1.74]", "libnghttp2/[>=1.52]", "libsodium/[>=1.0.18]", "libyaml/[>=0.2.5]",
                       "openssl/[>=3.0]", "protobuf/[>=3.21]", "rapidjson/[>=1.1.0]", "re2/[>=20220601]",
                       "zlib/[>=1.2.13]"):
            self.requires(needed)
        if self.has("etcd"):
            self.requires("grpc/[>=1.51]")
        if self.has("http-client"):
            self.requires("cpprestsdk/[>=2.10.18]")
        if self.has("program"):
            self.requires("cli11/[>=2.1]")
        if self.has("rocks"):
            self.requires("rocksdb/[>=7.8]")

    def build_requirements(self):
        self.tool_requires("protobuf/<host_version>")

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        off = [room for component, rooms in OPTIONAL.items() if not self.has(component) for room in rooms]
        for variable in ("APISERVER_TESTS", "APISERVER_EXAMPLES", "APISERVER_BENCH"):
            toolchain.cache_variables[variable] = False
        # Not a package of Conan's; its OpenSSL is as fast.
        toolchain.cache_variables["APISERVER_IPSEC_MB"] = "OFF"
        toolchain.cache_variables["APISERVER_LEAVES_OFF"] = ";".join(off)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    # The package brings its own CMake package, with a target for each component.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "apiserver")]
        self.cpp_info.libdirs = []
        self.cpp_info.includedirs = []
