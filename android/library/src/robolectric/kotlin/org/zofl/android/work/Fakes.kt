package org.zofl.android.work

import android.app.Notification
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.net.ConnectivityManager
import android.net.NetworkCapabilities
import android.os.BatteryManager
import androidx.test.core.app.ApplicationProvider
import androidx.work.Configuration
import androidx.work.WorkerParameters
import androidx.work.testing.SynchronousExecutor
import androidx.work.testing.WorkManagerTestInitHelper
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Implementation
import org.robolectric.annotation.Implements
import org.robolectric.shadows.ShadowConnectivityManager
import org.robolectric.shadows.ShadowNetwork
import org.robolectric.shadows.ShadowNetworkCapabilities
import org.zofl.android.FakeDevice
import org.zofl.android.FakeOpener
import org.zofl.android.FakeTask
import org.zofl.android.KeySource
import org.zofl.android.system.TrainingNotification

/** Calls a new callback at once with an unmetered network, as Android does. */
@Implements(ConnectivityManager::class)
class PromptNetwork : ShadowConnectivityManager() {
    @Implementation
    override fun registerDefaultNetworkCallback(callback: ConnectivityManager.NetworkCallback) {
        super.registerDefaultNetworkCallback(callback)
        val able = ShadowNetworkCapabilities.newInstance()
        shadowOf(able).addCapability(NetworkCapabilities.NET_CAPABILITY_VALIDATED)
        shadowOf(able).addCapability(NetworkCapabilities.NET_CAPABILITY_NOT_METERED)
        callback.onCapabilitiesChanged(ShadowNetwork.newInstance(1), able)
    }
}

/** Stands in for the Keystore, which Robolectric does not have. */
private class MemoryKeys : KeySource {
    private var key: SecretKey? = null

    override fun key() = key ?: KeyGenerator.getInstance("AES").apply { init(256) }.generateKey().also { key = it }

    override fun forget() {
        key = null
    }
}

/** An app with the library, whose native code is a [FakeDevice]. */
class Phone {
    val context: Context = ApplicationProvider.getApplicationContext()
    val device = FakeDevice()
    val opener = FakeOpener(device)
    val zofl: Zofl

    init {
        val now = Configuration.Builder().setExecutor(SynchronousExecutor()).build()
        WorkManagerTestInitHelper.initializeTestWorkManager(context, now)
        zofl = Zofl(context, FakeTask(), FakeWorker::class.java, opener, MemoryKeys())
        current = this
        plug(BatteryManager.BATTERY_PLUGGED_AC)
    }

    /** Says how the phone is charging; 0 for not. */
    fun plug(plugged: Int) {
        @Suppress("DEPRECATION") // only the system may send one; here the test is the system
        context.sendStickyBroadcast(
            Intent(Intent.ACTION_BATTERY_CHANGED).putExtra(BatteryManager.EXTRA_LEVEL, 80)
                .putExtra(BatteryManager.EXTRA_SCALE, 100).putExtra(BatteryManager.EXTRA_PLUGGED, plugged),
        )
    }

    companion object {
        /** What workers and services, which the system makes, find. */
        lateinit var current: Phone
    }
}

private fun shown(context: Context, stop: PendingIntent): Notification =
    TrainingNotification(context, "Digits", "Stop").build("Training", stop, stop)

class FakeWorker(context: Context, parameters: WorkerParameters) : TrainingWorker(context, parameters) {
    override val zofl get() = Phone.current.zofl

    override fun notification(stop: PendingIntent) = shown(applicationContext, stop)
}

class FakeService : TrainingService() {
    override val zofl get() = Phone.current.zofl

    override fun notification(stop: PendingIntent) = shown(this, stop)
}
