package org.zofl.android

import java.security.cert.X509Certificate

/** The certificates that a server sent, its own first. */
class ServerChain(
    val certificates: List<X509Certificate>,
    /** As javax.net.ssl.X509TrustManager takes it. */
    val authType: String,
    /** The server's name or address, for which the first certificate is. The library checks that itself. */
    val host: String,
)

/** Decides whether a server is trusted, in place of the native library's authorities. */
fun interface ServerTrust {
    /**
     * Throws unless a trusted authority has signed the chain. One background thread at a time
     * calls it. It must return within 20 seconds.
     */
    fun check(chain: ServerChain)
}
