// Package traces sends spans of a run's rounds to a collector of OpenTelemetry, by OTLP over HTTP.
//
// OpenTelemetry's exporters link gRPC, also those for HTTP. A span that is over when it is heard of
// needs neither that nor the SDK: only the messages, which the project OpenTelemetry generates.
package traces
