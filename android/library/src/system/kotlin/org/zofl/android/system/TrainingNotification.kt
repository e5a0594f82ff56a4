package org.zofl.android.system

import android.app.Notification
import android.app.NotificationChannel
import android.app.NotificationManager
import android.app.PendingIntent
import android.content.Context
import android.os.Build

/** The notification shown while the user's "train now" runs in the foreground. */
class TrainingNotification(private val context: Context, private val title: String, private val cancelLabel: String) {
    /** [open] shows the app, [cancel] ends the training. */
    fun build(text: String, open: PendingIntent, cancel: PendingIntent): Notification {
        val builder = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.O) {
            channel()
            Notification.Builder(context, CHANNEL)
        } else {
            @Suppress("DEPRECATION") // there were no channels before Android 8
            Notification.Builder(context)
        }
        // Show it and its "Stop" at once: otherwise the system may wait ten seconds.
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) {
            builder.setForegroundServiceBehavior(Notification.FOREGROUND_SERVICE_IMMEDIATE)
        }
        return builder
            .setSmallIcon(android.R.drawable.stat_notify_sync)
            .setContentTitle(title)
            .setContentText(text)
            .setContentIntent(open)
            .setOngoing(true)
            .addAction(Notification.Action.Builder(null, cancelLabel, cancel).build())
            .build()
    }

    private fun channel() {
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.O) return
        val channel = NotificationChannel(CHANNEL, title, NotificationManager.IMPORTANCE_LOW)
        context.getSystemService(NotificationManager::class.java).createNotificationChannel(channel)
    }

    companion object {
        const val ID = 1
        private const val CHANNEL = "training"
    }
}
