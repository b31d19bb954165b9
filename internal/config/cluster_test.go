package config

import (
	"strings"
	"testing"
)

// What would not work on several machines, or would send tasks in the clear, is said
// before anything begins.
func TestCluster(t *testing.T) {
	const base = "task_source: github\ngithub: {repositories: [o/r], personal_access_token: tok%s}\nllm: {openai: {model: m, api_key: k}}\n"
	for _, tt := range []struct{ forge, cluster, problem string }{
		{"", "{nats: {urls: ['tls://nats.example.com:4222']}}", ""},
		{"", "{nats: {urls: ['nats://127.0.0.1:4222']}}", ""},
		{"", "{nats: {urls: ['nats://nats.example.com:4222'], ca_file: /ca.pem}}", ""},
		{"", "{nats: {urls: ['nats://nats.example.com:4222']}}", "plain text"},
		{"", "{nats: {urls: ['tls://user:secret@nats.example.com:4222']}}", "no password"},
		{"", "{nats: {urls: ['https://nats.example.com']}}", "must be like nats://"},
		{"", "{nats: {urls: ['tls://nats.example.com:4222'], monitor_urls: ['http://nats.example.com:8222']}}", ""},
		{"", "{nats: {urls: ['tls://nats.example.com:4222'], monitor_urls: ['nats.example.com:8222']}}", "must be like http://"},
		{"", "{nats: {urls: ['tls://nats.example.com:4222'], monitor_urls: ['https://user:secret@nats.example.com']}}", "without a password"},
		{"", "{name: 'a b', nats: {urls: ['tls://nats.example.com:4222']}}", "letters, digits"},
		{"", "{nats: {urls: ['tls://nats.example.com:4222'], cert_file: /c.pem}}", "belong together"},
		{", workspace: /srv/work", "{nats: {urls: ['tls://nats.example.com:4222']}}", "another machine has not its files"},
		{", workspace: /srv/work", "{name: alone}", ""}, // one machine
	} {
		text := strings.Replace(base, "%s", tt.forge, 1) + "cluster: " + tt.cluster + "\n"
		_, _, err := load(t, text, nil)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%s: %v, want %q", tt.cluster+tt.forge, err, tt.problem)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}
