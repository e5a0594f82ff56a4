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
