package org.zofl.android.system

import android.content.Context
import androidx.test.core.app.ApplicationProvider
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.zofl.android.Report
import org.zofl.android.Settings

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35])
class PreferencesSettingsTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()
    private val chosen = Settings(
        optedIn = true, server = "tls://h:4222", run = "digits", device = "phone-1", halted = "update this app",
        report = Report(9, 8, 0.5, mapOf("accuracy" to 0.75), 100, "to be continued"),
    )

    private fun process(version: Long) = PreferencesSettings(context, version)

    @Test
    fun `a new installation has nothing`() {
        val settings = process(1)
        assertEquals(Settings(), settings.settings.value)
        assertFalse(settings.updated)
    }

    @Test
    fun `the next process has what was stored`() {
        process(1).update { chosen }
        assertEquals(chosen, process(1).settings.value)
    }

    @Test
    fun `an update of the app tries again what was given up`() {
        process(1).update { chosen }
        val updated = process(2)
        assertTrue(updated.updated)
        assertEquals(chosen.copy(halted = null), updated.settings.value)
        assertFalse(process(2).updated)
        assertNull(process(2).settings.value.halted)
    }
}
