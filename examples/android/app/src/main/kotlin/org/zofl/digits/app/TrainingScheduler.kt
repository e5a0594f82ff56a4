package org.zofl.digits.app

import android.content.Context
import androidx.work.BackoffPolicy
import androidx.work.Constraints
import androidx.work.ExistingPeriodicWorkPolicy
import androidx.work.ExistingWorkPolicy
import androidx.work.NetworkType
import androidx.work.OneTimeWorkRequestBuilder
import androidx.work.PeriodicWorkRequestBuilder
import androidx.work.WorkInfo
import androidx.work.WorkManager
import androidx.work.await
import androidx.work.workDataOf
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.map
import org.zofl.android.Limits

/** Asks WorkManager for sessions: regularly while the phone charges, and when the user asks. */
class TrainingScheduler(context: Context) {
    private val work = WorkManager.getInstance(context)

    /**
     * Schedules a session about every hour, under [limits], until canceled. The schedule
     * survives process death and restarts. [changed]: the user or an update of the app may
     * have changed the request, so replace it. Otherwise the old one stays: replacing it at
     * every start of the process would cancel the job that started the process.
     */
    fun schedulePeriodic(limits: Limits, changed: Boolean) {
        val request = PeriodicWorkRequestBuilder<TrainingWorker>(1, TimeUnit.HOURS)
            .setConstraints(
                Constraints.Builder()
                    .setRequiredNetworkType(networkType(limits))
                    .setRequiresCharging(limits.chargingOnly)
                    .setRequiresBatteryNotLow(true)
                    .setRequiresStorageNotLow(true)
                    .build(),
            )
            .setInitialDelay(Random.nextLong(15), TimeUnit.MINUTES) // so that phones do not all come at once
            .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 5, TimeUnit.MINUTES)
            .build()
        val policy = if (changed) ExistingPeriodicWorkPolicy.UPDATE else ExistingPeriodicWorkPolicy.KEEP
        work.enqueueUniquePeriodicWork(PERIODIC, policy, request)
    }

    /** Starts a session at once, in the foreground, because the user is watching. */
    fun trainNow(limits: Limits) {
        val request = OneTimeWorkRequestBuilder<TrainingWorker>()
            .setConstraints(Constraints.Builder().setRequiredNetworkType(networkType(limits)).build())
            .setInputData(workDataOf(BY_HAND to true))
            .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 1, TimeUnit.MINUTES)
            .build()
        work.enqueueUniqueWork(NOW, ExistingWorkPolicy.KEEP, request)
    }

    /** Whether "train now" waits for its network or for its next attempt. */
    fun waiting(): Flow<Boolean> = work.getWorkInfosForUniqueWorkFlow(NOW)
        .map { all -> all.any { it.state == WorkInfo.State.ENQUEUED } }

    fun cancelPeriodic() {
        work.cancelUniqueWork(PERIODIC)
    }

    /** Cancels all work. The sessions end a moment after this returns. */
    suspend fun cancelAll() {
        work.cancelUniqueWork(PERIODIC).await()
        work.cancelUniqueWork(NOW).await()
    }

    private fun networkType(limits: Limits) =
        if (limits.unmeteredOnly) NetworkType.UNMETERED else NetworkType.CONNECTED

    companion object {
        const val BY_HAND = "byHand"
        private const val PERIODIC = "training"
        private const val NOW = "training-now"
    }
}
