package config

import "net/http"

// Telemetry is about the spans that other programs show.
type Telemetry struct {
	// Send OpenTelemetry spans of each run there as it goes on, by OTLP/HTTP in JSON, such as to `http://127.0.0.1:4318`. Without a path `/v1/traces` is added. Best effort: it never holds up or fails a run. Empty: nothing is sent.
	OTLPEndpoint string `yaml:"otlp_endpoint"`
	// Headers for that address, such as `Authorization`. Their values are secrets.
	Headers map[string]string `yaml:"headers"`
	// Put texts into the spans: prompts, replies, arguments and outputs of tools, titles, reasons. They are redacted. Without it spans hold names, numbers and times.
	Content bool `yaml:"content"`
}

func (d *decoder) checkTelemetry(c *Config) {
	t := c.Telemetry
	if t.OTLPEndpoint != "" {
		if bad := BadURL(t.OTLPEndpoint, c.AllowHTTP); bad != "" {
			d.failAt("telemetry.otlp_endpoint", "%s", bad)
		}
	}
	for name, value := range t.Headers {
		if !headerName.MatchString(name) || !oneLine(value) || http.CanonicalHeaderKey(name) == "Host" {
			d.failAt("telemetry.headers", "a header must be a name and one line of text")
		}
	}
}
