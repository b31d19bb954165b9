// Package collector sends our spans to the OTLP receiver of the OpenTelemetry collector.
package collector
