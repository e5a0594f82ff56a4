package org.zofl.android.work

import android.content.Intent
import java.util.concurrent.TimeUnit
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.zofl.android.Outcome

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], shadows = [PromptNetwork::class])
class TrainingServiceTest {
    private val phone = Phone()
    private val service = Robolectric.buildService(FakeService::class.java).create()

    private fun start(action: String? = null) =
        service.get().onStartCommand(Intent(phone.context, FakeService::class.java).setAction(action), 0, 1)

    private fun optIn() = runBlocking {
        phone.zofl.settings.update { it.copy(server = "tls://h:4222", run = "digits") }
        phone.zofl.optIn()
    }

    /** Waits for the end of the session that was started. */
    private fun outcome(): Outcome = runBlocking {
        withTimeout(5.minutes) { phone.zofl.training.outcome.first { it != null }!! }
    }

    @Test
    fun `a session runs in the foreground, for half an hour`() {
        optIn()
        phone.device.returns = true
        start()
        assertNotNull(shadowOf(service.get()).lastForegroundNotification)
        assertTrue(outcome() is Outcome.More)
        assertTrue("runFor 1800000 on zofl" in phone.device.calls, "${phone.device.calls}")
    }

    @Test
    fun `the user's stop ends the session`() {
        optIn()
        start()
        assertTrue(phone.device.running.await(5, TimeUnit.MINUTES), "no session runs")
        start("org.zofl.android.STOP")
        assertTrue(shadowOf(service.get()).isStoppedBySelf)
        service.destroy()
        runBlocking { phone.zofl.training.idle() }
        assertTrue(phone.device.returned)
    }

    @Test
    @Config(sdk = [35])
    fun `the system's time limit ends it`() {
        optIn()
        start()
        assertTrue(phone.device.running.await(5, TimeUnit.MINUTES), "no session runs")
        service.get().onTimeout(1, 1)
        assertTrue(shadowOf(service.get()).isStoppedBySelf)
        service.destroy()
        runBlocking { phone.zofl.training.idle() }
        assertTrue(phone.device.returned)
    }

    @Test
    fun `an app in view may start it`() {
        assertEquals(true, TrainingService.start(phone.context, FakeService::class.java))
        assertEquals(FakeService::class.java.name, shadowOf(phone.context as android.app.Application).nextStartedService.component!!.className)
    }
}
