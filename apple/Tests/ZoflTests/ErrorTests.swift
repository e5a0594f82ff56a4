import Foundation
import XCTest

@testable import Zofl

final class ErrorTests: XCTestCase {
    private struct Odd: Error { let value: Int }

    func testEveryCodeHasItsClass() {
        let classes: [(String, (String, String) -> ZoflError)] = [
            ("config insecure dim initial plan", ZoflError.settings),
            ("credentials unauthorized permission refused runkey", ZoflError.access),
            ("offline quiet tls", ZoflError.connection),
            ("upgrade", ZoflError.outdated), ("running locked", ZoflError.occupied),
            ("stopped", ZoflError.stopped), ("store", ZoflError.storage),
            ("loss time busy policy diverged revoked", ZoflError.round),
            ("fault panic later", ZoflError.unknown),
        ]
        for (codes, made) in classes {
            for code in codes.split(separator: " ").map(String.init) {
                XCTAssertEqual(ZoflError(code: code, detail: "why"), made(code, "why"))
            }
        }
    }

    func testATextWithoutACodeIsKeptWhole() {
        let native = NSError(
            domain: "go", code: 1, userInfo: [NSLocalizedDescriptionKey: "no colon here"])
        XCTAssertEqual(ZoflError(native: native), .unknown(code: "", detail: "no colon here"))
    }

    func testOnlyWhatWaitingCuresMayPass() {
        XCTAssertTrue(ZoflError(code: "offline", detail: "").mayPass)
        XCTAssertTrue(ZoflError(code: "locked", detail: "").mayPass)
        XCTAssertFalse(ZoflError(code: "refused", detail: "").mayPass)
        XCTAssertEqual(ZoflError(code: "dim", detail: "3").localizedDescription, "dim: 3")
    }

    func testGoGetsTheValuesOfWhatAnAppThrows() {
        let loss = LossCallback { _ in throw Odd(value: 41) }
        var result = 0.0
        XCTAssertThrowsError(try loss.loss(.init(), ret0_: &result)) {
            XCTAssertTrue($0.localizedDescription.contains("Odd(value: 41)"), "\($0)")
        }
        XCTAssertThrowsError(try loss.loss(nil, ret0_: &result)) {
            XCTAssertTrue($0.localizedDescription.contains("nil"), "\($0)")
        }
        XCTAssertNoThrow(try LossCallback { _ in 0.25 }.loss(.init(), ret0_: &result))
        XCTAssertEqual(result, 0.25)
    }
}
