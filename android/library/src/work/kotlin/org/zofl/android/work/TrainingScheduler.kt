package org.zofl.android.work

import android.content.Context
import androidx.work.BackoffPolicy
import androidx.work.Constraints
import androidx.work.ExistingPeriodicWorkPolicy
import androidx.work.ExistingWorkPolicy
import androidx.work.NetworkType
import androidx.work.OneTimeWorkRequest
import androidx.work.PeriodicWorkRequest
import androidx.work.WorkInfo
import androidx.work.WorkManager
import androidx.work.await
import androidx.work.workDataOf
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.map
import org.zofl.android.Limits

/**
 * Asks WorkManager for sessions, each run by a [worker] of the app: regularly, while the
 * phone meets the limits, and when the user asks. [name] begins the names of the unique works.
 */
class TrainingScheduler(
    context: Context,
    private val worker: Class<out TrainingWorker>,
    name: String = "zofl",
) {
    private val work = WorkManager.getInstance(context)

    /** Name of the unique periodic work. */
    val periodic = "$name-periodic"

    /** Name of the unique work of "train now". */
    val now = "$name-now"

    /**
     * Schedules a session about every hour, under [limits], until canceled. The schedule
     * survives process death and restarts. [changed]: the user or an update of the app may
     * have changed the request, so replace it. Otherwise the old one stays: replacing it at
     * every start of the process would cancel the job that started the process.
     */
    fun schedulePeriodic(limits: Limits, changed: Boolean) {
        val request = PeriodicWorkRequest.Builder(worker, 1, TimeUnit.HOURS)
            .setConstraints(constraintsOf(limits))
            .setInitialDelay(Random.nextLong(15), TimeUnit.MINUTES) // so that phones do not all come at once
            .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 5, TimeUnit.MINUTES)
            .build()
        val policy = if (changed) ExistingPeriodicWorkPolicy.UPDATE else ExistingPeriodicWorkPolicy.KEEP
        work.enqueueUniquePeriodicWork(periodic, policy, request)
    }

    /** Starts a session as soon as there is a network, in the foreground, because the user is watching. */
    fun trainNow(limits: Limits) {
        val request = OneTimeWorkRequest.Builder(worker)
            .setConstraints(Constraints.Builder().setRequiredNetworkType(networkOf(limits)).build())
            .setInputData(workDataOf(BY_HAND to true))
            .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 1, TimeUnit.MINUTES)
            .build()
        work.enqueueUniqueWork(now, ExistingWorkPolicy.KEEP, request)
    }

    /** Whether "train now" waits for its network or for its next attempt. */
    fun waiting(): Flow<Boolean> = work.getWorkInfosForUniqueWorkFlow(now)
        .map { all -> all.any { it.state == WorkInfo.State.ENQUEUED } }

    fun cancelPeriodic() {
        work.cancelUniqueWork(periodic)
    }

    /** Cancels all work. The sessions end a moment after this returns. */
    suspend fun cancelAll() {
        work.cancelUniqueWork(periodic).await()
        work.cancelUniqueWork(now).await()
    }

    companion object {
        /** Input of a worker: the user has just asked for it. */
        const val BY_HAND = "byHand"

        /** When WorkManager may start a session in the background. */
        fun constraintsOf(limits: Limits): Constraints = Constraints.Builder()
            .setRequiredNetworkType(networkOf(limits))
            .setRequiresCharging(limits.chargingOnly)
            .setRequiresBatteryNotLow(true)
            .setRequiresStorageNotLow(true)
            .build()

        private fun networkOf(limits: Limits) =
            if (limits.unmeteredOnly) NetworkType.UNMETERED else NetworkType.CONNECTED
    }
}
