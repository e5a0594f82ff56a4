package org.zofl.android.work

import android.app.Notification
import android.app.PendingIntent
import android.content.Context
import android.content.pm.ServiceInfo
import android.os.Build
import android.util.Log
import androidx.work.CoroutineWorker
import androidx.work.ForegroundInfo
import androidx.work.WorkManager
import androidx.work.WorkerParameters
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import org.zofl.android.Outcome

/**
 * One session of training. The system ends background work after ten minutes. The budget is
 * shorter, so that the library stops by itself in time. If the system stops the work
 * earlier, for instance because the charger was unplugged, the coroutine is canceled, which
 * stops the library and waits for its checkpoint.
 *
 * Subclass it, with this constructor, and give the class to [Zofl].
 */
abstract class TrainingWorker(context: Context, parameters: WorkerParameters) : CoroutineWorker(context, parameters) {
    /** The process's training. */
    protected abstract val zofl: Zofl

    /** What is shown while "train now" runs. [stop] ends it: see [org.zofl.android.system.TrainingNotification]. */
    protected abstract fun notification(stop: PendingIntent): Notification

    /** Its number in the notification manager. */
    protected open val notificationId: Int get() = 1

    /** How long a session in the background lasts: less than the system's ten minutes. */
    protected open val backgroundBudget: Duration get() = 9.minutes

    /**
     * How long "train now" lasts. Android 15 allows a data-sync service six hours a day, and
     * Android 16 counts it against the job quota. A user who waits also wants it to end.
     */
    protected open val foregroundBudget: Duration get() = 30.minutes

    final override suspend fun doWork(): Result {
        val byHand = inputData.getBoolean(TrainingScheduler.BY_HAND, false)
        val budget = if (byHand && goToForeground()) foregroundBudget else backgroundBudget
        val outcome = zofl.train(budget, runAttemptCount, byHand)
        Log.i("Zofl", outcome.toString())
        return when (outcome) {
            is Outcome.More -> Result.success()
            is Outcome.Retry -> Result.retry()
            is Outcome.Finished, is Outcome.Halted -> {
                zofl.rest()
                Result.success()
            }
        }
    }

    /** Whether the system allowed the foreground: not for an app in the background, as at a second attempt. */
    private suspend fun goToForeground(): Boolean =
        try {
            setForeground(getForegroundInfo())
            true
        } catch (e: IllegalStateException) {
            Log.w("Zofl", "the system refuses the foreground", e)
            false
        }

    final override suspend fun getForegroundInfo(): ForegroundInfo {
        val shown = notification(WorkManager.getInstance(applicationContext).createCancelPendingIntent(id))
        return if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
            ForegroundInfo(notificationId, shown, ServiceInfo.FOREGROUND_SERVICE_TYPE_DATA_SYNC)
        } else {
            ForegroundInfo(notificationId, shown)
        }
    }
}
