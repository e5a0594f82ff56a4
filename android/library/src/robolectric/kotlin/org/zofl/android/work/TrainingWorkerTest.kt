package org.zofl.android.work

import android.content.pm.ServiceInfo
import androidx.work.ListenableWorker.Result
import androidx.work.WorkInfo
import androidx.work.WorkManager
import androidx.work.testing.TestListenableWorkerBuilder
import androidx.work.workDataOf
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlinx.coroutines.runBlocking
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** A worker that the system starts, down to the native library, which is a fake. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], shadows = [PromptNetwork::class])
class TrainingWorkerTest {
    private val phone = Phone()
    private val zofl = phone.zofl

    private fun worker(byHand: Boolean = false, attempt: Int = 0) =
        TestListenableWorkerBuilder<FakeWorker>(phone.context)
            .setInputData(workDataOf(TrainingScheduler.BY_HAND to byHand))
            .setRunAttemptCount(attempt)
            .build()

    private fun optIn() = runBlocking {
        zofl.settings.update { it.copy(server = "tls://h:4222", run = "digits") }
        zofl.optIn()
    }

    private fun periodic() = WorkManager.getInstance(phone.context)
        .getWorkInfosForUniqueWork(zofl.scheduler.periodic).get().single().state

    @Test
    fun `without the user's consent no session starts, and none is scheduled`() = runBlocking<Unit> {
        assertEquals(Result.success(), worker().doWork())
        assertTrue(phone.device.calls.isEmpty())
    }

    @Test
    fun `a session in the background has nine minutes, and goes on next time`() = runBlocking<Unit> {
        optIn()
        phone.device.returns = true
        assertEquals(Result.success(), worker().doWork())
        assertTrue("runFor 540000 on zofl" in phone.device.calls, "${phone.device.calls}")
        assertEquals(WorkInfo.State.ENQUEUED, periodic())
    }

    @Test
    fun `train now has half an hour in the foreground`() = runBlocking<Unit> {
        optIn()
        phone.device.returns = true
        assertEquals(Result.success(), worker(byHand = true).doWork())
        assertTrue("runFor 1800000 on zofl" in phone.device.calls, "${phone.device.calls}")
    }

    @Test
    fun `a passing problem is tried again, a few times`() = runBlocking<Unit> {
        optIn()
        phone.device.error = Exception("store: the disk is full: free some")
        assertEquals(Result.retry(), worker().doWork())
        assertEquals(Result.success(), worker(attempt = 9).doWork())
        assertEquals(WorkInfo.State.ENQUEUED, periodic())
    }

    @Test
    fun `what only the user can cure ends the schedule`() = runBlocking<Unit> {
        optIn()
        phone.device.error = Exception("credentials: neither a creds file nor a seed: paste the whole text")
        assertEquals(Result.success(), worker().doWork())
        assertEquals(WorkInfo.State.CANCELLED, periodic())
        assertTrue("credentials" in zofl.settings.settings.value.halted!!)
    }

    @Test
    fun `a run that has ended ends the schedule`() = runBlocking<Unit> {
        optIn()
        phone.device.returns = true
        phone.device.ended = true
        assertEquals(Result.success(), worker().doWork())
        assertEquals(WorkInfo.State.CANCELLED, periodic())
    }

    @Test
    @Config(sdk = [35])
    fun `the notification is of the type that the manifest declares`() = runBlocking<Unit> {
        val info = worker(byHand = true).getForegroundInfo()
        assertEquals(ServiceInfo.FOREGROUND_SERVICE_TYPE_DATA_SYNC, info.foregroundServiceType)
        assertEquals("Stop", info.notification.actions.single().title)
    }
}
