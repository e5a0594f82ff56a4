package org.zofl.android

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update

/** Turns the native library's news into the latest [Progress]. */
internal class News(private val witness: Witness) : DeviceListener {
    private val latest = MutableStateFlow(Progress())
    val progress = latest.asStateFlow()

    @Volatile
    var source: Device? = null

    override fun onState(state: DeviceState, reason: String) =
        latest.update { it.copy(state = state, reason = reason, fault = it.fault.unlessCured(state)) }

    override fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double) {
        val traffic = source?.traffic ?: Traffic()
        latest.update {
            it.copy(
                record = record, last = last, round = round, contributions = contributions,
                loss = loss.takeUnless(Double::isNaN), traffic = traffic,
                // A fault is over as soon as a round succeeds.
                fault = it.fault.takeUnless { _ -> contributions > it.contributions },
            )
        }
    }

    /** Drops a fault of connection or access once the device is in a state that needs both. */
    private fun ZoflException?.unlessCured(state: DeviceState) =
        takeUnless { (it is ZoflException.Connection || it is ZoflException.Access) && state in served }

    override fun onFault(code: String, message: String) {
        val fault = ZoflException.of(code, message)
        if (code == "loss") witness.last()?.let(fault::initCause)
        latest.update { it.copy(fault = fault) }
    }

    fun traffic(now: Traffic) = latest.update { it.copy(traffic = now) }
}

/** States that a device has only with server and coordinator. */
private val served =
    setOf(DeviceState.CATCHING_UP, DeviceState.WAITING, DeviceState.WORKING, DeviceState.PAUSED, DeviceState.ENDED)
