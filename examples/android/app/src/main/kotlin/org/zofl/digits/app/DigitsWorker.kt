package org.zofl.digits.app

import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import androidx.work.WorkerParameters
import org.zofl.android.system.TrainingNotification
import org.zofl.android.work.TrainingWorker

/** The app's part of a session in the background: what the notification of "Train now" says. */
class DigitsWorker(context: Context, parameters: WorkerParameters) : TrainingWorker(context, parameters) {
    override val zofl get() = applicationContext.digits.zofl

    override fun notification(stop: PendingIntent) = with(applicationContext) {
        val open = PendingIntent.getActivity(
            this, 0, Intent(this, MainActivity::class.java), PendingIntent.FLAG_IMMUTABLE,
        )
        TrainingNotification(this, getString(R.string.app_name), getString(R.string.stop))
            .build(getString(R.string.training_now), open, stop)
    }
}
