// Package collector sends our spans to the OTLP receiver of the OpenTelemetry collector.
//
// Nothing of this module is shipped. What it needs beside the program is under Apache-2.0 (the
// collector and OpenTelemetry), MIT and BSD, and three modules of HashiCorp under MPL-2.0.
package collector
