// Package traces sends spans of a run's rounds to a collector of OpenTelemetry, with OTLP over
// HTTP.
//
// OpenTelemetry's exporters link gRPC, even those for HTTP. Spans here are over when they are
// reported, so they need neither gRPC nor the SDK. They need only the messages, whose Go code
// OpenTelemetry publishes.
package traces
