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
    implementation(libs.annotation)

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
            pom {
                name = "Zofl for Android"
                description = "Devices that evaluate a loss train one model together"
                url = "https://github.com/zofl/zofl"
                licenses {
                    license {
                        name = "Apache-2.0"
                        url = "https://www.apache.org/licenses/LICENSE-2.0.txt"
                    }
                }
                developers {
                    developer { name = "The Zofl authors" }
                }
                scm {
                    url = "https://github.com/zofl/zofl"
                    connection = "scm:git:https://github.com/zofl/zofl.git"
                }
            }
            afterEvaluate { from(components["release"]) }
        }
    }
    repositories {
        maven(rootProject.layout.buildDirectory.dir("maven")) { name = "folder" }
    }
}
