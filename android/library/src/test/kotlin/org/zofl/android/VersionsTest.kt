package org.zofl.android

import java.io.File
import java.security.MessageDigest
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** Gradle and Maven build with the same versions. */
class VersionsTest {
    private val project = generateSequence(File("").absoluteFile) { it.parentFile }
        .first { File(it, "gradle/libs.versions.toml").exists() }

    private val catalog = Regex("""^(\w+) = "([^"]+)"$""", RegexOption.MULTILINE)
        .findAll(File(project, "gradle/libs.versions.toml").readText().substringBefore("[libraries]"))
        .associate { it.groupValues[1] to it.groupValues[2] }

    private val properties = Regex("""<(\w+)>([^<]+)</\1>""")
        .findAll(File(project, "pom.xml").readText().substringAfter("<properties>").substringBefore("Only Maven"))
        .associate { it.groupValues[1] to it.groupValues[2] }

    private val builds = listOf("build.gradle.kts", "library/build.gradle.kts")
        .map { File(project, it) } +
        listOf("build.gradle.kts", "app/build.gradle.kts").map { File(project, "../examples/android/$it") }

    @Test
    fun `versions are the same`() {
        assertTrue(properties.size >= 8, "$properties")
        for ((name, version) in properties) assertEquals(version, catalog[name], name)
    }

    @Test
    fun `Gradle's names are in the catalog`() {
        val text = File(project, "gradle/libs.versions.toml").readText()
        val entries = Regex("""^([\w-]+) = """, RegexOption.MULTILINE)
        fun names(section: String) = entries.findAll(text.substringAfter("[$section]\n").substringBefore("\n["))
            .map { it.groupValues[1].replace('-', '.') }.toSet()
        val known = names("libraries") + names("plugins").map { "plugins.$it" } + names("versions").map { "versions.$it" }
        val used = builds.flatMap { file ->
            Regex("""\blibs\.([\w.]+)""").findAll(file.readText()).map { it.groupValues[1].removeSuffix(".get") }
        }
        assertTrue(used.size > 15, "$used")
        assertEquals(emptySet(), used.toSet() - known)
        val versions = Regex("""version\.ref = "(\w+)\"""").findAll(text).map { it.groupValues[1] }.toSet()
        assertEquals(emptySet(), versions - catalog.keys)
    }

    /** An app names what Gradle publishes. */
    @Test
    fun `the coordinates are the same`() {
        val library = File(project, "library/build.gradle.kts").readText()
        fun said(name: String) = Regex("""\b$name = "([^"]+)"""").find(library)!!.groupValues[1]
        val coordinates = "${said("group")}:${said("artifactId")}"
        val example = File(project, "../examples/android/app/build.gradle.kts").readText()
        assertTrue("\"$coordinates:\${libs.versions.zofl.get()}\"" in example, coordinates)
        val page = File(project, "../docs/android.md").readText()
        assertTrue("\"$coordinates:${catalog["zofl"]}\"" in page, coordinates)
        val maven = Regex("<version>([^<]+)<").find(File(project, "pom.xml").readText())!!.groupValues[1]
        assertEquals(catalog["zofl"], maven)
    }

    /** robolectric.sh compiles the library beside what the app needs, so that it hides what is not named here. */
    @Test
    fun `the library imports what its POM names`() {
        val groups = Regex("""^([\w-]+) = \{ module = "([^:"]+):""", RegexOption.MULTILINE)
            .findAll(File(project, "gradle/libs.versions.toml").readText())
            .associate { it.groupValues[1].replace('-', '.') to it.groupValues[2].removePrefix("org.jetbrains.") }
        val named = Regex("""^    (?:api|implementation)\(libs\.([\w.]+)\)""", RegexOption.MULTILINE)
            .findAll(File(project, "library/build.gradle.kts").readText())
            .map { groups.getValue(it.groupValues[1]).replace("kotlinx", "kotlinx.coroutines") }.toSet()
        val outside = Regex("""^import ((?:androidx|kotlinx|com|org)\.\w+)\.""", RegexOption.MULTILINE)
        val imported = listOf("core", "bridge", "system", "work")
            .flatMap { File(project, "library/src/$it/kotlin").walk().filter(File::isFile) }
            .flatMap { file -> outside.findAll(file.readText()).map { it.groupValues[1] } }.toSet()
        assertEquals(named, imported - "org.zofl")
    }

    /** Gradle publishes the checksum of each version's wrapper: https://gradle.org/release-checksums */
    @Test
    fun `the wrapper is Gradle's own`() {
        val wrapper = File(project, "gradle/wrapper")
        val digest = MessageDigest.getInstance("SHA-256").digest(File(wrapper, "gradle-wrapper.jar").readBytes())
        assertEquals(
            "55243ef57851f12b070ad14f7f5bb8302daceeebc5bce5ece5fa6edb23e1145c",
            digest.joinToString("") { "%02x".format(it) },
        )
        val said = File(wrapper, "gradle-wrapper.properties").readText()
        assertTrue("gradle-9.4.1-bin.zip" in said && Regex("distributionSha256Sum=[0-9a-f]{64}\n") in said, said)
    }
}
