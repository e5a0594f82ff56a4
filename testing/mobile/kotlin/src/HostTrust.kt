import java.security.KeyStore
import java.security.cert.CertificateFactory
import javax.net.ssl.TrustManagerFactory
import javax.net.ssl.X509TrustManager
import org.zofl.android.ServerChain
import org.zofl.android.ServerTrust

/** The JVM's judgment of a chain, with one authority, in the place of Android's. */
internal class HostTrust(authority: String) : ServerTrust {
    private val manager: X509TrustManager

    init {
        val store = KeyStore.getInstance(KeyStore.getDefaultType()).apply { load(null, null) }
        val certificate = CertificateFactory.getInstance("X.509").generateCertificate(authority.byteInputStream())
        store.setCertificateEntry("authority", certificate)
        val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm())
        factory.init(store)
        manager = factory.trustManagers.filterIsInstance<X509TrustManager>().single()
    }

    override fun check(chain: ServerChain) =
        manager.checkServerTrusted(chain.certificates.toTypedArray(), chain.authType)
}
