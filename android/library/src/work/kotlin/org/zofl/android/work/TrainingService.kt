package org.zofl.android.work

import android.app.Notification
import android.app.PendingIntent
import android.app.Service
import android.content.Context
import android.content.Intent
import android.content.pm.ServiceInfo
import android.os.Build
import android.os.IBinder
import android.util.Log
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/**
 * One session of training in a foreground service of its own, for apps that show a session
 * while it runs and use no WorkManager for it. Subclass it, declare the subclass in the
 * manifest with `android:foregroundServiceType="dataSync"`, and call [start] while the app
 * is visible. The service ends with its session, when the user stops it, and when Android 15
 * says that the day's six hours are over.
 */
abstract class TrainingService : Service() {
    /** The process's training. */
    protected abstract val zofl: Zofl

    /** What is shown while it trains. [stop] ends it: see [org.zofl.android.system.TrainingNotification]. */
    protected abstract fun notification(stop: PendingIntent): Notification

    /** Its number in the notification manager. */
    protected open val notificationId: Int get() = 2

    /** How long a session lasts. */
    protected open val budget: Duration get() = 30.minutes

    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private var session: Job? = null

    final override fun onBind(intent: Intent?): IBinder? = null

    final override fun onStartCommand(intent: Intent?, flags: Int, startId: Int): Int {
        if (intent?.action == STOP) {
            stopSelf() // onDestroy ends the session
            return START_NOT_STICKY
        }
        show()
        if (session == null) session = scope.launch { train() }
        return START_NOT_STICKY // after process death the user decides again
    }

    private suspend fun train() {
        val outcome = zofl.train(budget, attempt = 0, byHand = true)
        Log.i("Zofl", outcome.toString())
        stopSelf()
    }

    private fun show() {
        val shown = notification(stopIntent())
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
            startForeground(notificationId, shown, ServiceInfo.FOREGROUND_SERVICE_TYPE_DATA_SYNC)
        } else {
            startForeground(notificationId, shown)
        }
    }

    private fun stopIntent(): PendingIntent =
        PendingIntent.getService(this, 0, Intent(this, javaClass).setAction(STOP), PendingIntent.FLAG_IMMUTABLE)

    /** Android 15 calls it when the service has used up its time: it must stop within seconds. */
    override fun onTimeout(startId: Int, fgsType: Int) {
        Log.i("Zofl", "the system's time for this service is over")
        stopSelf()
    }

    override fun onDestroy() {
        scope.cancel() // the session ends a moment later, with its state on disk
        super.onDestroy()
    }

    companion object {
        private const val STOP = "org.zofl.android.STOP"

        /** Starts a service; false if the system refuses it, as for an app in the background. */
        fun start(context: Context, service: Class<out TrainingService>): Boolean =
            try {
                val intent = Intent(context, service)
                if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.O) {
                    context.startForegroundService(intent)
                } else {
                    context.startService(intent)
                }
                true
            } catch (e: IllegalStateException) {
                Log.w("Zofl", "the system refuses the foreground", e)
                false
            }
    }
}
