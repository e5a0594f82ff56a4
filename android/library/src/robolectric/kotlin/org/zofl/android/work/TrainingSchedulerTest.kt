package org.zofl.android.work

import androidx.work.NetworkType
import androidx.work.WorkInfo
import androidx.work.WorkManager
import kotlin.test.assertEquals
import kotlin.test.assertNotEquals
import kotlin.test.assertTrue
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.zofl.android.Limits

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35])
class TrainingSchedulerTest {
    private val phone = Phone()
    private val scheduler = phone.zofl.scheduler

    private fun work(name: String): List<WorkInfo> =
        WorkManager.getInstance(phone.context).getWorkInfosForUniqueWork(name).get()

    private fun state(name: String) = work(name).single().state

    @Test
    fun `periodic work has the limits as constraints`() {
        scheduler.schedulePeriodic(Limits(), changed = false)
        val asked = work(scheduler.periodic).single().constraints
        assertEquals(NetworkType.UNMETERED, asked.requiredNetworkType)
        assertTrue(asked.requiresCharging() && asked.requiresBatteryNotLow() && asked.requiresStorageNotLow())
    }

    @Test
    fun `without a change the schedule stays as it is`() {
        scheduler.schedulePeriodic(Limits(), changed = false)
        val first = work(scheduler.periodic).single()
        scheduler.schedulePeriodic(Limits(chargingOnly = false), changed = false)
        assertEquals(first, work(scheduler.periodic).single())
        scheduler.schedulePeriodic(Limits(unmeteredOnly = false, chargingOnly = false), changed = true)
        val changed = work(scheduler.periodic).single()
        assertEquals(first.id, changed.id, "updated in place, so that a running job goes on")
        assertNotEquals(first.constraints, changed.constraints)
        assertEquals(NetworkType.CONNECTED, changed.constraints.requiredNetworkType)
        assertTrue(!changed.constraints.requiresCharging())
    }

    @Test
    fun `train now waits for its network only`() = runBlocking<Unit> {
        scheduler.trainNow(Limits())
        val asked = work(scheduler.now).single()
        assertEquals(NetworkType.UNMETERED, asked.constraints.requiredNetworkType)
        assertEquals(false, asked.constraints.requiresCharging())
        assertTrue(scheduler.waiting().first())
        scheduler.trainNow(Limits())
        assertEquals(asked.id, work(scheduler.now).single().id, "a second press starts no second session")
    }

    @Test
    fun `all work can be canceled`() = runBlocking<Unit> {
        scheduler.schedulePeriodic(Limits(), changed = false)
        scheduler.trainNow(Limits())
        scheduler.cancelAll()
        assertEquals(WorkInfo.State.CANCELLED, state(scheduler.periodic))
        assertEquals(WorkInfo.State.CANCELLED, state(scheduler.now))
        assertEquals(false, scheduler.waiting().first())
    }
}
