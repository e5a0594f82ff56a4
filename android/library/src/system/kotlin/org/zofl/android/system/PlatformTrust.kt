package org.zofl.android.system

import android.net.http.X509TrustManagerExtensions
import java.security.KeyStore
import javax.net.ssl.TrustManagerFactory
import javax.net.ssl.X509TrustManager
import org.zofl.android.ServerChain
import org.zofl.android.ServerTrust

/**
 * Android's own trust: the authorities that its updates bring, those that an administrator or
 * the user added as far as the app allows them, and the app's network security configuration.
 */
class PlatformTrust(manager: () -> X509TrustManager = ::default) : ServerTrust {
    private val extensions by lazy { X509TrustManagerExtensions(manager()) } // it reads files

    override fun check(chain: ServerChain) {
        extensions.checkServerTrusted(chain.certificates.toTypedArray(), chain.authType, chain.host)
    }
}

private fun default(): X509TrustManager {
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm())
    factory.init(null as KeyStore?)
    return factory.trustManagers.filterIsInstance<X509TrustManager>().first()
}
