pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositoriesMode = RepositoriesMode.FAIL_ON_PROJECT_REPOS
    repositories {
        google()
        mavenCentral()
    }
    versionCatalogs {
        create("libs") { from(files("../../android/gradle/libs.versions.toml")) }
    }
}

// org.zofl:zofl-android is built from its sources here. An app of yours takes it from a repository.
includeBuild("../../android") {
    dependencySubstitution {
        substitute(module("org.zofl:zofl-android")).using(project(":library"))
    }
}

rootProject.name = "digits"
include(":app")
