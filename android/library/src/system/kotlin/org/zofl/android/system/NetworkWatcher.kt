package org.zofl.android.system

import android.content.Context
import android.net.ConnectivityManager
import android.net.NetworkCapabilities
import android.util.Log
import org.zofl.android.ConditionsHub
import org.zofl.android.Network

/**
 * Reports to [hub] which network the system would use, and whether it is metered. A
 * network that the system withholds from this app, in Doze or to save data, counts as
 * none. Call [start] and [stop] once each.
 */
class NetworkWatcher(context: Context, private val hub: ConditionsHub) : ConnectivityManager.NetworkCallback() {
    private val system = context.getSystemService(ConnectivityManager::class.java)
    private var seen = Network()
    private var blocked = false
    private var stopped = false
    private var registered = false

    fun start() =
        try {
            system.registerDefaultNetworkCallback(this)
            registered = true
        } catch (e: SecurityException) {
            // Android 11 sometimes throws this in a process that has just started, despite
            // the permission. Then no network is known, and the session tries again later.
            Log.w("Zofl", "the network cannot be watched", e)
        }

    fun stop() {
        if (registered) system.unregisterNetworkCallback(this)
        tell { stopped = true } // a late callback changes nothing
    }

    override fun onCapabilitiesChanged(network: android.net.Network, capabilities: NetworkCapabilities) = tell {
        seen = Network(
            // A network behind a sign-in page is not validated: TLS would fail on it.
            connected = capabilities.hasCapability(NetworkCapabilities.NET_CAPABILITY_VALIDATED),
            metered = !capabilities.hasCapability(NetworkCapabilities.NET_CAPABILITY_NOT_METERED),
            id = network.networkHandle,
        )
    }

    /** Called from Android 10 on. */
    override fun onBlockedStatusChanged(network: android.net.Network, blocked: Boolean) = tell { this.blocked = blocked }

    override fun onLost(network: android.net.Network) = tell { seen = Network() }

    @Synchronized
    private fun tell(change: () -> Unit) {
        change()
        hub.network(if (blocked || stopped) Network() else seen)
    }
}
