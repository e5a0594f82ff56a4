plugins {
    alias(libs.plugins.android.library)
    `maven-publish`
}

group = "org.zofl"
version = libs.versions.zofl.get()

android {
    namespace = "org.zofl.android"
    compileSdk = libs.versions.compileSdk.get().toInt()

    defaultConfig {
        minSdk = libs.versions.minSdk.get().toInt()
        consumerProguardFiles("consumer-rules.pro")
    }

    compileOptions {
        sourceCompatibility = JavaVersion.toVersion(libs.versions.jvmTarget.get())
        targetCompatibility = JavaVersion.toVersion(libs.versions.jvmTarget.get())
    }

    sourceSets {
        named("main") {
            // Separate folders, by what their files need to compile: see docs/android-build.md.
            kotlin.directories += listOf("core", "bridge", "system", "work").map { "src/$it/kotlin" }
            jniLibs.directories += "libs/jni" // ../bind.sh makes it, and libs/zofl-mobile.jar
        }
        named("test") {
            kotlin.directories += listOf("src/fake/kotlin", "src/robolectric/kotlin")
        }
    }

    publishing {
        singleVariant("release") {
            withSourcesJar()
        }
    }
}

dependencies {
    api(files("libs/zofl-mobile.jar")) // the AAR has its classes
    api(libs.coroutines.android)
    api(libs.work)

    testImplementation(libs.kotlin.test)
    testImplementation(libs.coroutines.test)
    testImplementation(platform(libs.junit.bom))
    testImplementation(libs.junit)
    testImplementation(libs.junit4)
    testImplementation(libs.robolectric)
    testImplementation(libs.test.core)
    testImplementation(libs.work.testing)
    testRuntimeOnly(libs.junit.launcher)
    testRuntimeOnly(libs.junit.vintage)
}

tasks.withType<Test> {
    useJUnitPlatform()
}

publishing {
    publications {
        register<MavenPublication>("release") {
            artifactId = "zofl-android"
            afterEvaluate { from(components["release"]) }
        }
    }
    repositories {
        maven(rootProject.layout.buildDirectory.dir("maven")) { name = "folder" }
    }
}
