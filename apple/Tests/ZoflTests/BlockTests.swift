import XCTest

@testable import Zofl

final class BlockTests: XCTestCase {
    func testABlockHasTheBytesOfItsElements() throws {
        XCTAssertEqual(try Block(count: 3).bytes.length, 12)
        XCTAssertEqual(try HalfBlock(count: 3).bytes.length, 6)
        XCTAssertEqual(try Int8Block(count: 3).bytes.length, 3)
    }

    func testParametersAreReadWhereTheyAre() throws {
        let block = try Block(count: 2)
        let bytes: [UInt8] = [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]
        block.bytes.replaceBytes(in: NSRange(location: 0, length: 8), withBytes: bytes)
        XCTAssertEqual(block[0], 1)
        XCTAssertEqual(block.withParameters { Array($0) }, [1, -2.5])
    }

    func testCountsThatCannotBe() throws {
        for count in [-1, Int.max, Int.max / 4 + 1] {
            XCTAssertThrowsError(try Block(count: count)) {
                guard case .settings(let code, let detail)? = $0 as? ZoflError else {
                    return XCTFail("\($0)")
                }
                XCTAssertEqual(code, "config")
                XCTAssertTrue(detail.contains("\(count)"), detail)
            }
        }
        XCTAssertEqual(try Block(count: 0).count, 0)
    }
}
