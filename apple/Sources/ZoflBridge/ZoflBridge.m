#import "ZoflBridge.h"

NSError *ZoflReadRound(
    ZoflMobileRound *round, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [round readParams:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadEvaluation(
    ZoflMobileEvaluation *evaluation, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [evaluation readParams:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadProbe(
    ZoflMobileProbes *probes, long probe, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [probes readParams:probe off:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadRoundHalf(
    ZoflMobileRound *round, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [round readHalf:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadRoundInt8(
    ZoflMobileRound *round, long off, double scale, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [round readInt8:off scale:scale dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadEvaluationHalf(
    ZoflMobileEvaluation *evaluation, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [evaluation readHalf:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadEvaluationInt8(
    ZoflMobileEvaluation *evaluation, long off, double scale, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [evaluation readInt8:off scale:scale dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadProbeHalf(
    ZoflMobileProbes *probes, long probe, long off, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [probes readHalf:probe off:off dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadProbeInt8(
    ZoflMobileProbes *probes, long probe, long off, double scale, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [probes readInt8:probe off:off scale:scale dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadAll(
    ZoflMobileProbes *probes, long off, long count, NSMutableData *dst, long *n) {
  NSError *error = nil;
  return [probes readAll:off count:count dst:dst n:n error:&error] ? nil : error;
}

NSError *ZoflReadModel(
    ZoflMobileClient *client, NSMutableData *dst, int64_t *record) {
  NSError *error = nil;
  return [client params:dst record:record error:&error] ? nil : error;
}

NSError *ZoflReadDigest(
    ZoflMobileClient *client, NSMutableData *dst, int64_t *record) {
  NSError *error = nil;
  return [client digest:dst record:record error:&error] ? nil : error;
}

NSError *ZoflRunFor(
    ZoflMobileClient *client, int64_t milliseconds) {
  NSError *error = nil;
  return [client runFor:milliseconds error:&error] ? nil : error;
}
