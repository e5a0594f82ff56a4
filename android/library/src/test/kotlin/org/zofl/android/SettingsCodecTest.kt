package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals

class SettingsCodecTest {
    private val all = Settings(
        optedIn = true, server = "tls://h:4222", run = "digits", ca = "-----BEGIN\nx\n", device = "phone-1",
        limits = Limits(unmeteredOnly = false, chargingOnly = false, minBattery = 55), halted = "new credentials",
        report = Report(12, 11, 1.25, mapOf("accuracy" to 0.75, "a=b" to 0.5), 9000, "to be continued"), deleting = true,
    )

    @Test
    fun `settings survive a round trip`() {
        for (s in listOf(all, Settings(), all.copy(halted = null, report = null), all.copy(report = all.report!!.copy(loss = null)))) {
            assertEquals(s, decodeSettings(s.encode()::get))
        }
    }

    @Test
    fun `unreadable settings get their defaults`() {
        assertEquals(Settings(), decodeSettings { null })
        assertEquals(Settings().limits, decodeSettings { if (it == "minBattery") "many" else null }.limits)
    }
}
