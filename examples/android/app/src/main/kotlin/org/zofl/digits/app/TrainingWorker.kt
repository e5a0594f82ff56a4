package org.zofl.digits.app

import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.content.pm.ServiceInfo
import android.os.Build
import android.util.Log
import androidx.work.CoroutineWorker
import androidx.work.ForegroundInfo
import androidx.work.WorkManager
import androidx.work.WorkerParameters
import kotlin.time.Duration.Companion.minutes
import org.zofl.android.Outcome
import org.zofl.android.system.TrainingNotification

/**
 * One session of training. The system ends background work after ten minutes. The
 * budget is shorter, so that the library stops by itself in time. If the system stops
 * the work earlier, for instance because the charger was unplugged, the coroutine is
 * canceled, which stops the library and waits for its checkpoint.
 */
class TrainingWorker(context: Context, parameters: WorkerParameters) : CoroutineWorker(context, parameters) {
    override suspend fun doWork(): Result {
        val byHand = inputData.getBoolean(TrainingScheduler.BY_HAND, false)
        val budget = if (byHand && goToForeground()) FOREGROUND_BUDGET else BACKGROUND_BUDGET
        val outcome = applicationContext.parts.train(budget, runAttemptCount, byHand)
        Log.i(TAG, outcome.toString())
        return when (outcome) {
            is Outcome.More -> Result.success()
            is Outcome.Retry -> Result.retry()
            is Outcome.Finished, is Outcome.Halted -> {
                applicationContext.parts.rest()
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
            Log.w(TAG, "the system refuses the foreground", e)
            false
        }

    override suspend fun getForegroundInfo(): ForegroundInfo {
        val text = applicationContext.getString(R.string.training_now)
        val open = PendingIntent.getActivity(
            applicationContext, 0, Intent(applicationContext, MainActivity::class.java), PendingIntent.FLAG_IMMUTABLE,
        )
        val cancel = WorkManager.getInstance(applicationContext).createCancelPendingIntent(id)
        val notification = TrainingNotification(
            applicationContext,
            applicationContext.getString(R.string.app_name),
            applicationContext.getString(R.string.stop),
        ).build(text, open, cancel)
        return if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
            ForegroundInfo(TrainingNotification.ID, notification, ServiceInfo.FOREGROUND_SERVICE_TYPE_DATA_SYNC)
        } else {
            ForegroundInfo(TrainingNotification.ID, notification)
        }
    }

    private companion object {
        const val TAG = "Training"
        val BACKGROUND_BUDGET = 9.minutes

        /**
         * Android 15 allows a data-sync service six hours a day, and Android 16 counts it
         * against the job quota. A user who waits also wants it to end.
         */
        val FOREGROUND_BUDGET = 30.minutes
    }
}
