package org.zofl.digits

import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** The check compiles against the app's resources. */
class ResourcesTest {
    private val app = generateSequence(File("").absoluteFile) { it.parentFile }
        .first { File(it, "src/main/res/values/strings.xml").exists() }

    private fun names(file: String, shape: String) =
        Regex(shape).findAll(File(app, file).readText()).map { it.groupValues[1] }.toList()

    @Test
    fun `the check's resources are those of the app`() {
        val real = names("src/main/res/values/strings.xml", """<string name="(\w+)">""")
        assertTrue(real.size > 20, "$real")
        assertEquals(real, names("src/check/kotlin/org/zofl/digits/app/R.kt", """const val (\w+)"""))
    }
}
