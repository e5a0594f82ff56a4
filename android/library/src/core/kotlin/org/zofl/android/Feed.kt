package org.zofl.android

import kotlinx.coroutines.flow.Flow

/**
 * Reports the phone's state to [client] until canceled, because native code cannot ask
 * Android. A connection from before Doze, or of another network, looks alive for minutes,
 * so it is replaced.
 */
suspend fun feed(conditions: Flow<Conditions>, client: ZoflClient): Nothing {
    var before: Conditions? = null
    conditions.collect { now ->
        if (now.network != before?.network) client.setNetwork(now.network.connected, now.network.metered)
        if (now.power != before?.power) client.setPower(now.power.charging, now.power.percent)
        if (needsReconnect(before, now)) client.reconnect()
        before = now
    }
    error("the flow of conditions ended: give one that never does")
}

internal fun needsReconnect(before: Conditions?, now: Conditions): Boolean = when {
    before == null || !now.network.connected -> false
    before.dozing && !now.dozing -> true
    else -> before.network.connected && before.network.id != now.network.id
}
