package org.zofl.android.system

import java.security.cert.CertificateException
import java.security.cert.CertificateFactory
import java.security.cert.X509Certificate
import javax.net.ssl.X509TrustManager
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.zofl.android.ServerChain

/** Trusts one host, with the method that Android's own manager has besides the interface's. */
class OneHost(private val trusted: String) : X509TrustManager {
    val asked = mutableListOf<String>()

    @Suppress("unused") // the system calls it by its name
    fun checkServerTrusted(chain: Array<X509Certificate>, authType: String, host: String): List<X509Certificate> {
        asked += "${chain.map { it.subjectX500Principal.name }} $authType $host"
        if (host != trusted) throw CertificateException("$host is not trusted")
        return chain.toList()
    }

    override fun checkServerTrusted(chain: Array<X509Certificate>, authType: String) = error("the host is missing")

    override fun checkClientTrusted(chain: Array<X509Certificate>, authType: String) = error("a server is judged")

    override fun getAcceptedIssuers() = emptyArray<X509Certificate>()
}

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35])
class PlatformTrustTest {
    private val certificate = CertificateFactory.getInstance("X.509").generateCertificate(PEM.byteInputStream())

    private fun chain(host: String) = ServerChain(listOf(certificate as X509Certificate), "ECDHE_ECDSA", host)

    @Test
    fun `the system's manager judges the chain, for its host`() {
        val manager = OneHost("zofl.example")
        val trust = PlatformTrust { manager }
        trust.check(chain("zofl.example"))
        val refused = assertFailsWith<CertificateException> { trust.check(chain("other.example")) }
        assertEquals("other.example is not trusted", refused.message)
        assertEquals(listOf("[CN=zofl] ECDHE_ECDSA zofl.example", "[CN=zofl] ECDHE_ECDSA other.example"), manager.asked)
    }

    private companion object {
        val PEM = """
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUcbV2gTxHCQMDQksofHT/G5Geo00wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEem9mbDAgFw0yNjExMjQwNzQ2MTVaGA8yMTI2MTAzMTA3NDYx
        NVowDzENMAsGA1UEAwwEem9mbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPWr
        oi0NVW27Nr55a+HmUzacUWlBhJFYOsLaQITXCZo/uVCBvFxrPp+TQ1d0cm6zvPhF
        4EeZdJJT21nT+qlDFGKjUzBRMB0GA1UdDgQWBBTu96wwxtq9D/UmtnnQfe22cBqS
        DDAfBgNVHSMEGDAWgBTu96wwxtq9D/UmtnnQfe22cBqSDDAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIQCSPWjPHVBt2K4TMxRrfS6eHb2nXhee/Lv2
        ImzG2PlUIQIgJhj6TO5zFK8E/wqzid+LHood8W+cEJHYYWk+yg12QFI=
        -----END CERTIFICATE-----
        """.trimIndent()
    }
}
