package org.zofl.digits

import java.io.File
import kotlin.math.ln
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.io.TempDir
import org.zofl.android.ConditionsHub
import org.zofl.android.Device
import org.zofl.android.DeviceConfig
import org.zofl.android.DeviceListener
import org.zofl.android.DeviceOpener
import org.zofl.android.DeviceState
import org.zofl.android.Evaluator
import org.zofl.android.FakeDevice
import org.zofl.android.FullSettings
import org.zofl.android.Loss
import org.zofl.android.MemorySettings
import org.zofl.android.MemoryVault
import org.zofl.android.ModelFile
import org.zofl.android.Network
import org.zofl.android.Outcome
import org.zofl.android.Power
import org.zofl.android.Settings
import org.zofl.android.StateFolder
import org.zofl.android.Traffic
import org.zofl.android.optIn

class DigitTrainingTest {
    @TempDir
    lateinit var dir: File

    private val device = FakeDevice(DigitClassifier.DIM)
    private lateinit var config: DeviceConfig
    private lateinit var listener: DeviceListener
    private lateinit var evaluator: Evaluator
    private var credentials: String? = null
    private val settings =
        FullSettings(MemorySettings(Settings(server = "tls://h:4222", run = "digits").optIn { "phone-1" }))
    private val hub = ConditionsHub().apply {
        network(Network(connected = true, metered = false, id = 1))
        power(Power(charging = true, percent = 90))
    }
    private val opener = object : DeviceOpener {
        override fun open(
            config: DeviceConfig, credentials: String?, loss: Loss, evaluator: Evaluator?, listener: DeviceListener,
        ): Device {
            this@DigitTrainingTest.evaluator = evaluator!!
            this@DigitTrainingTest.config = config
            this@DigitTrainingTest.credentials = credentials
            this@DigitTrainingTest.listener = listener
            return device
        }
    }

    private fun training() = DigitTraining(
        opener, settings, hub, MemoryVault("SU"), StateFolder(dir), ModelFile(File(dir, "model")), plaintext = false,
    )

    @Test
    fun `a session joins as this phone, and saves model and report`() = runBlocking<Unit> {
        device.returns = true
        device.record = 9
        device.values = FloatArray(DigitClassifier.DIM)
        device.traffic = Traffic(3, 4)
        assertNull(training().model())
        assertIs<Outcome.More>(training().run(9.minutes, 0, byHand = false))
        assertEquals(
            DeviceConfig(
                run = "digits", device = "phone-1", dim = DigitClassifier.DIM, servers = listOf("tls://h:4222"),
                stateDir = File(dir, "digits").path, samples = DigitTraining.SAMPLES,
            ),
            config,
        )
        assertEquals("SU", credentials)
        assertEquals(9, training().model()!!.record) // as a new process would read it
        val report = settings.settings.value.report!!
        assertEquals(7, report.bytes)
        assertTrue(report.accuracy!! in 0.02..0.25, "a model of zeros names ${report.accuracy} rightly")
        assertEquals(ln(10.0), report.heldOutLoss!!, 1e-6)
    }

    @Test
    fun `a full disk is tried again, with a report`() = runBlocking<Unit> {
        File(dir, "model").apply { mkdirs(); File(this, "in the way").writeText("") }
        device.returns = true
        device.record = 9
        device.values = FloatArray(DigitClassifier.DIM)
        val training = training()
        assertIs<Outcome.Retry>(training.run(9.minutes, 0, byHand = false))
        assertEquals(9, settings.settings.value.report!!.record)
        assertNull(training.progress.value)
    }

    @Test
    fun `settings that cannot be saved mean a full disk`() = runBlocking<Unit> {
        settings.full = true
        device.returns = true
        assertIs<Outcome.Retry>(training().run(9.minutes, 0, byHand = false))
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
    fun `a screen sees the score that the coordinator asked for`() = runBlocking<Unit> {
        device.returns = true
        val training = training()
        training.run(9.minutes, 0, byHand = false)
        assertNull(training.score.value)
        val asked = Measurement(FloatArray(DigitClassifier.DIM))
        evaluator.evaluate(asked)
        assertEquals(asked.metrics, training.score.value!!.let { listOf(it.accuracy, it.loss) })
        training.run(9.minutes, 0, byHand = false)
        assertNull(training.score.value, "measured in the session before")
    }

    @Test
    fun `a screen sees the session and its end`() = runBlocking<Unit> {
        val training = training()
        val work = async(Dispatchers.Default) { training.run(9.minutes, 0, byHand = false) }
        device.running.await()
        listener.onState(DeviceState.WORKING, "")
        training.progress.first { it?.state == DeviceState.WORKING }
        work.cancelAndJoin()
        assertNull(training.progress.value)
        assertEquals("interrupted", settings.settings.value.report!!.outcome)
    }
}
