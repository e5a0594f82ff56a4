// Calls that Swift would make otherwise than they are meant. Swift hands over a Data as an
// NSData that Go has to copy; an NSMutableData is written in place.

@import Foundation;
@import ZoflMobile;

NS_ASSUME_NONNULL_BEGIN

// Each returns nil, or the error. Parameters are little-endian float32, binary16 (Half), or
// multiples of a scale in a signed byte each (Int8).

FOUNDATION_EXPORT NSError *_Nullable ZoflReadRound(
    ZoflMobileRound *round, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadEvaluation(
    ZoflMobileEvaluation *evaluation, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadProbe(
    ZoflMobileProbes *probes, long probe, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadRoundHalf(
    ZoflMobileRound *round, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadRoundInt8(
    ZoflMobileRound *round, long off, double scale, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadEvaluationHalf(
    ZoflMobileEvaluation *evaluation, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadEvaluationInt8(
    ZoflMobileEvaluation *evaluation, long off, double scale, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadProbeHalf(
    ZoflMobileProbes *probes, long probe, long off, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadProbeInt8(
    ZoflMobileProbes *probes, long probe, long off, double scale, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadAll(
    ZoflMobileProbes *probes, long off, long count, NSMutableData *dst, long *n);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadModel(
    ZoflMobileClient *client, NSMutableData *dst, int64_t *record);
FOUNDATION_EXPORT NSError *_Nullable ZoflReadDigest(
    ZoflMobileClient *client, NSMutableData *dst, int64_t *record);

// Here because Swift takes the "For" of runFor for the label of its argument.
FOUNDATION_EXPORT NSError *_Nullable ZoflRunFor(ZoflMobileClient *client, int64_t milliseconds);

NS_ASSUME_NONNULL_END
