package org.zofl.android.core

import java.io.File
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
        val used = listOf("build.gradle.kts", "app/build.gradle.kts", "core/build.gradle.kts").flatMap { file ->
            Regex("""\blibs\.([\w.]+)""").findAll(File(project, file).readText()).map { it.groupValues[1].removeSuffix(".get") }
        }
        assertTrue(used.size > 15, "$used")
        assertEquals(emptySet(), used.toSet() - known)
        val versions = Regex("""version\.ref = "(\w+)\"""").findAll(text).map { it.groupValues[1] }.toSet()
        assertEquals(emptySet(), versions - catalog.keys)
    }

    @Test
    fun `the check's resources are those of the app`() {
        val real = Regex("""<string name="(\w+)">""").findAll(File(project, "app/src/main/res/values/strings.xml").readText())
        val stub = Regex("""const val (\w+)""").findAll(File(project, "app/src/check/kotlin/org/zofl/android/app/R.kt").readText())
        assertEquals(real.map { it.groupValues[1] }.toList(), stub.map { it.groupValues[1] }.toList())
    }
}
