package org.zofl.android.core

/** Which run a device joins, and on what terms. It holds no secret: printing it is safe. */
data class DeviceConfig(
    /** Name of the run, as the operator gave it. */
    val run: String,
    /** Name of this device in it: letters, digits, - and _, 32 at most. */
    val device: String,
    /** Parameters of the model. */
    val dim: Int,
    /** `tls://host:4222`, several for a cluster. */
    val servers: List<String>,
    /** Where checkpoints are kept; empty for none. */
    val stateDir: String,
    /** PEM of the authority that signed the server's certificate; null for those of the system. */
    val ca: String? = null,
    /** Training samples here, this device's weight in a mean; 0 counts as 1. */
    val samples: Int = 0,
    /** Threads that may make directions at once; 0 for one a core. The model is the same for any number. */
    val workers: Int = 1,
    /** Allows a connection without TLS, to this machine only: for trying things out. */
    val plaintext: Boolean = false,
    val limits: Limits = Limits(),
)
