package org.zofl.android.system

import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.content.IntentFilter
import android.os.BatteryManager
import android.os.Build
import android.os.PowerManager
import android.util.Log
import androidx.annotation.RequiresApi
import org.zofl.android.ConditionsHub
import org.zofl.android.Power

/** Reports battery, power saving, Doze and heat to [hub]. It receives on the main thread; [start] may run on any. */
class PowerWatcher(private val context: Context, private val hub: ConditionsHub) : BroadcastReceiver() {
    private val power = context.getSystemService(PowerManager::class.java)
    private var battery = Power()
    private var heat: PowerManager.OnThermalStatusChangedListener? = null

    fun start() {
        val filter = IntentFilter(Intent.ACTION_BATTERY_CHANGED).apply {
            addAction(PowerManager.ACTION_POWER_SAVE_MODE_CHANGED)
            addAction(PowerManager.ACTION_DEVICE_IDLE_MODE_CHANGED)
        }
        // Only the system sends these. The battery's is sticky: it arrives at once.
        val sticky = context.registerReceiver(this, filter)
        tell(sticky?.let(::read))
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) watchHeat()
    }

    @RequiresApi(Build.VERSION_CODES.Q)
    private fun watchHeat() =
        try {
            val listener = PowerManager.OnThermalStatusChangedListener(hub::thermal)
            power.addThermalStatusListener(listener)
            heat = listener
        } catch (e: RuntimeException) { // a system without a thermal service: it trains without
            Log.w("Zofl", "heat cannot be watched", e)
        }

    fun stop() {
        context.unregisterReceiver(this)
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) heat?.let(power::removeThermalStatusListener)
        heat = null
    }

    override fun onReceive(context: Context, intent: Intent) {
        tell(if (intent.action == Intent.ACTION_BATTERY_CHANGED) read(intent) else null)
    }

    @Synchronized
    private fun tell(now: Power?) {
        battery = now ?: battery
        hub.power(battery.copy(saver = power.isPowerSaveMode))
        hub.dozing(power.isDeviceIdleMode)
    }

    private fun read(intent: Intent): Power {
        val level = intent.getIntExtra(BatteryManager.EXTRA_LEVEL, 0)
        val scale = intent.getIntExtra(BatteryManager.EXTRA_SCALE, 100).coerceAtLeast(1)
        return Power(
            charging = intent.getIntExtra(BatteryManager.EXTRA_PLUGGED, 0) != 0,
            percent = 100 * level / scale,
        )
    }
}
