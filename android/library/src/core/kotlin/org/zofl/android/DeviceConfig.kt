package org.zofl.android

/** Which run a device joins, and how. It contains no secrets: printing it is safe. */
data class DeviceConfig(
    /** Name of the run, as in the operator's plan. */
    val run: String,
    /** Name of this device in the run: at most 32 letters, digits, - and _. */
    val device: String,
    /** Number of parameters. */
    val dim: Int,
    /** Such as `tls://host:4222`; several for a cluster. */
    val servers: List<String>,
    /** Directory for checkpoints; empty for none. */
    val stateDir: String,
    /** PEM of the authority that signed the server's certificate; null: [trust] decides. */
    val ca: String? = null,
    /** Decides about the server where [ca] is null; null: the system's authorities, as Go finds them. */
    val trust: ServerTrust? = null,
    /**
     * Keys of which the server, or an authority above it, must have one, besides what [ca] or
     * [trust] asks: `sha256/` and base64, as in a network security configuration. Empty: any key.
     */
    val pins: List<String> = emptyList(),
    /** Number of training samples here, which is this device's weight in a mean; 0 counts as 1. */
    val samples: Int = 0,
    /** Threads that may generate directions at once; 0 for one per core. The model has the same bits for any number. */
    val workers: Int = 1,
    /** Whether a loss that fails in the first round, and again, ends the session with the code `loss`. */
    val strict: Boolean = true,
    /** Allows a connection without TLS, to this machine only, for trying things out. */
    val plaintext: Boolean = false,
    val limits: Limits = Limits(),
    /**
     * What the run's operator sees of this app and its version, such as `pantry 1.4`: at most 48
     * characters of ASCII. With it the operator also sees the platform, the battery and whether the
     * network is metered. Empty: nothing of all that.
     */
    val about: String = "",
    /**
     * First parameters, [dim] of them, for a plan that leaves them to the app; null: none. Two
     * configurations are equal only if they have the same array.
     */
    val initial: FloatArray? = null,
    /**
     * This device's rows, for a plan with columns; null: none. Before round 1 the devices find one
     * scale, [WorkView.scaler], and no row leaves the device.
     */
    val columns: Iterable<FloatArray>? = null,
) {
    /** For a device with [Secrets.line], which names run, device and server. */
    constructor(dim: Int, stateDir: String) : this("", "", dim, emptyList(), stateDir)
}
