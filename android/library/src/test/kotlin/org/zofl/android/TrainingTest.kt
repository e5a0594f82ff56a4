package org.zofl.android

import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertSame
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.io.TempDir

class TrainingTest {
    @TempDir
    lateinit var dir: File

    private val device = FakeDevice()
    private val opener = FakeOpener(device)
    private val settings =
        FullSettings(MemorySettings(Settings(server = "tls://h:4222", run = "digits").optIn { "phone-1" }))
    private val hub = ConditionsHub().apply {
        network(Network(connected = true, metered = false, id = 1))
        power(Power(charging = true, percent = 90))
    }

    private fun training() = Training(
        FakeTask(), opener, settings, hub, MemoryVault("SU"), StateFolder(dir), ModelFile(File(dir, "model")),
    )

    @Test
    fun `a session has the platform's trust, the app's pins, and what it tells of itself`() = runBlocking<Unit> {
        device.returns = true
        val trust = ServerTrust { error("unknown authority") }
        val initial = floatArrayOf(1f, 2f)
        val runKey = ByteArray(32) { 7 }
        val consent = Consent { error("too large") }
        val training = Training(
            FakeTask(initial = initial, runKey = runKey), opener, settings, hub, MemoryVault("SU"), StateFolder(dir),
            ModelFile(File(dir, "model")), trust = trust, pins = listOf("sha256/a", "sha256/b"), about = "pantry 1.4",
            consent = consent,
        )
        training.run(9.minutes, 0, byHand = false)
        assertSame(trust, opener.config.trust)
        assertEquals(listOf("sha256/a", "sha256/b"), opener.config.pins)
        assertEquals("pantry 1.4", opener.config.about)
        assertSame(initial, opener.config.initial)
        assertSame(runKey, opener.secrets.runKey)
        assertSame(consent, device.callbacks.consent)
    }

    private fun trained() {
        device.returns = true
        device.record = 9
        device.values = floatArrayOf(1f, 2f)
    }

    @Test
    fun `a session joins as this phone, and saves model and report`() = runBlocking<Unit> {
        trained()
        device.traffic = Traffic(3, 4)
        assertNull(training().model())
        assertIs<Outcome.More>(training().run(9.minutes, 0, byHand = false))
        assertEquals(
            DeviceConfig(
                run = "digits", device = "phone-1", dim = 2, servers = listOf("tls://h:4222"),
                stateDir = File(dir, "digits").path, samples = 7,
            ),
            opener.config,
        )
        assertEquals("SU", opener.credentials)
        assertEquals(9, training().model()!!.record) // as a new process would read it
        val report = settings.settings.value.report!!
        assertEquals(7, report.bytes)
        assertEquals(mapOf("sum" to 3.0), report.metrics)
    }

    @Test
    fun `a full disk is tried again, with a report`() = runBlocking<Unit> {
        File(dir, "model").apply { mkdirs(); File(this, "in the way").writeText("") }
        trained()
        val training = training()
        assertIs<Outcome.Retry>(training.run(9.minutes, 0, byHand = false))
        assertEquals(9, settings.settings.value.report!!.record)
        assertNull(training.progress.value)
    }

    @Test
    fun `settings that cannot be saved mean a full disk`() = runBlocking<Unit> {
        settings.full = true
        device.returns = true
        val outcome = assertIs<Outcome.Retry>(training().run(9.minutes, 0, byHand = false))
        assertTrue(outcome.reason.startsWith("the storage fails"), outcome.reason)
    }

    @Test
    fun `a screen gets the reason why there was no session`() = runBlocking<Unit> {
        hub.power(Power(charging = true, percent = 90, saver = true))
        val training = training()
        assertNull(training.outcome.value)
        assertEquals(Outcome.Retry("power saving is on"), training.run(9.minutes, 0, byHand = true))
        assertEquals(Outcome.Retry("power saving is on"), training.outcome.value)
        assertNull(settings.settings.value.report)
    }

    @Test
    fun `a screen sees the session and its end`() = runBlocking<Unit> {
        val training = training()
        val work = async(Dispatchers.Default) { training.run(9.minutes, 0, byHand = false) }
        device.running.await()
        device.listener.onState(DeviceState.WORKING, "")
        training.progress.first { it?.state == DeviceState.WORKING }
        work.cancelAndJoin()
        assertNull(training.progress.value)
        assertEquals("interrupted", settings.settings.value.report!!.outcome)
    }
}
