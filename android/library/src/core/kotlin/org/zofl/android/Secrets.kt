package org.zofl.android

/** What admits a device to a run. It is not part of [DeviceConfig], and printing it shows nothing. */
class Secrets(
    /** The text of a creds file or an nkey seed; null for none, or for those of [line]. */
    val credentials: String? = null,
    /**
     * What `zofl device add NAME --qr` prints, also as a QR code; null for none. It names run,
     * device, server, the server's authority, the credentials and the coordinator's key. It goes
     * with the configuration of model and folder alone, and is needed at each start. [DeviceConfig.ca]
     * and [DeviceConfig.trust] replace its authority.
     */
    val line: String? = null,
    /** The 32 bytes that a private run's plan was made with; null for none. */
    val runKey: ByteArray? = null,
)
