package config

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// Notification is one way to tell people what became of tasks. It has exactly one of command,
// url, ntfy, slack and email.to.
type Notification struct {
	// What to tell of. `approval`: a plan or a change waits for somebody who may write. `limit`: a limit was reached. `paused`: both, and every other pause, questions included. `completed`: the work is done. `failed`: it ended with an error.
	On Strings `yaml:"on" default:"paused,approval,failed,completed,limit" oneof:"paused|approval|failed|completed|limit"`
	// Program and arguments, no shell. It reads the text from its standard input and finds the facts in variables. What it leaves running is killed.
	Command []string `yaml:"command"`
	// Address that takes the facts and the text as JSON, by POST.
	URL string `yaml:"url"`
	// Address of an ntfy topic, such as `https://ntfy.sh/my-topic`. Who knows the name of a topic without a token can read it.
	Ntfy string `yaml:"ntfy"`
	// Address of an incoming webhook of Slack, Mattermost, Rocket.Chat, or of Discord with `/slack` at its end.
	Slack string `yaml:"slack"`
	Email struct {
		// Addresses that get an e-mail.
		To Strings `yaml:"to"`
		// Address of the sender. Empty: sendmail chooses it.
		From string `yaml:"from"`
		// Program that sends it, with arguments. It gets `-i`, the sender by `-f`, and the receivers.
		Sendmail []string `yaml:"sendmail" default:"/usr/sbin/sendmail"`
	} `yaml:"email"`
	// Token for `Authorization: Bearer`, as ntfy takes it.
	Token string `yaml:"token"`
	// Headers for an address. Their values are secrets.
	Headers map[string]string `yaml:"headers"`
	// Environment for a `command`, beside `PATH`, `HOME`, the locale and the desktop session. It gets no other variable.
	Env map[string]string `yaml:"env"`
	// The text, with `{event}`, `{title}`, `{reason}`, `{state}`, `{task}`, `{url}`, `{change}` and `{context}`. Empty: a text in the language of the program.
	Template string `yaml:"template"`
	// Seconds that one attempt may take.
	TimeoutSeconds int `yaml:"timeout_seconds" default:"10" min:"1" max:"120"`
}

// Ways are the keys of a notification that say how it is sent, as far as they are set.
func (n Notification) Ways() (set []string) {
	for _, way := range []struct {
		key string
		set bool
	}{{"command", len(n.Command) > 0}, {"url", n.URL != ""}, {"ntfy", n.Ntfy != ""}, {"slack", n.Slack != ""}, {"email", len(n.Email.To) > 0}} {
		if way.set {
			set = append(set, way.key)
		}
	}
	return set
}

// Address is where a notification is posted to, "" if it is not.
func (n Notification) Address() string {
	return n.URL + n.Ntfy + n.Slack // one of them is set
}

// blankNotification is what an entry of notify starts from.
func blankNotification() Notification {
	var n Notification
	setDefaults(reflect.ValueOf(&n).Elem())
	return n
}

// Placeholders are what a template may hold, without the braces.
var Placeholders = []string{"event", "title", "reason", "state", "task", "url", "change", "context"}

var (
	placeholder = lazyregexp.New(`\{([^{}]*)\}`)
	topicName   = lazyregexp.New(`^/[-_A-Za-z0-9]{1,64}$`)
)

func (d *decoder) checkNotify(c *Config) {
	for i, n := range c.Notify {
		path := forgePath("notify", i)
		if d.lacks(path + ".") {
			continue // said already
		}
		ways := n.Ways()
		if len(ways) != 1 {
			d.failAt(path, "needs exactly one of command, url, ntfy, slack and email.to")
			continue
		}
		if len(n.On) == 0 {
			d.failAt(path+".on", "must not be empty")
		}
		d.checkAddress(c, n, path+"."+ways[0])
		d.checkProgram(n.Command, path+".command")
		if ways[0] == "email" {
			d.checkEmail(n, path+".email")
		}
		d.checkPosted(n, path)
		for _, hole := range placeholder.FindAllStringSubmatch(n.Template, -1) {
			if !slices.Contains(Placeholders, hole[1]) {
				d.failAt(path+".template", "may hold {%s} only", strings.Join(Placeholders, "}, {"))
				break
			}
		}
	}
}

func (d *decoder) checkAddress(c *Config, n Notification, path string) {
	address := n.Address()
	if address == "" {
		return
	}
	plain, _, _ := strings.Cut(address, "?") // some receivers want their token there
	if bad := BadURL(plain, c.AllowHTTP); bad != "" {
		d.failAt(path, "%s", bad)
	} else if u, err := url.Parse(address); err != nil || u.Fragment != "" {
		d.failAt(path, "is not a URL")
	} else if n.Ntfy != "" && (!topicName.MatchString(u.Path) || u.RawQuery != "") {
		d.failAt(path, "must be a server and a topic, such as https://ntfy.sh/my-topic")
	}
}

// checkPosted looks at what goes with an address, or with a command.
func (d *decoder) checkPosted(n Notification, path string) {
	if n.Address() == "" && (len(n.Headers) > 0 || n.Token != "") {
		d.failAt(path, "headers and token are for addresses")
	}
	if len(n.Env) > 0 && len(n.Command) == 0 {
		d.failAt(path+".env", "is for a command")
	}
	if !oneLine(n.Token) {
		d.failAt(path+".token", "must be one line")
	}
	for name, value := range n.Headers {
		if !headerName.MatchString(name) || !oneLine(value) || http.CanonicalHeaderKey(name) == "Host" {
			d.failAt(path+".headers", "a header must be a name and one line of text")
		}
	}
	for name, value := range n.Env {
		if !varName.MatchString(name) || strings.ContainsRune(value, 0) {
			d.failAt(path+".env", "a variable must have a name of letters, digits and _")
		}
	}
}

func (d *decoder) checkEmail(n Notification, path string) {
	for _, address := range append(slices.Clone(n.Email.To), n.Email.From) {
		if address != "" && !plainAddress(address) {
			d.failAt(path, "an address must be like name@example.com")
		}
	}
	if len(n.Email.Sendmail) == 0 {
		d.failAt(path+".sendmail", "must name a program")
	}
	d.checkProgram(n.Email.Sendmail, path+".sendmail")
}

// plainAddress is true for an address that is no option of sendmail and needs no quotes.
func plainAddress(address string) bool {
	a, err := mail.ParseAddress(address)
	return err == nil && a.Address == address && a.Name == "" && !strings.HasPrefix(address, "-") && strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

func (d *decoder) checkProgram(argv []string, path string) {
	if len(argv) > 0 && (argv[0] == "" || strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) || strings.ContainsRune(strings.Join(argv, ""), 0)) {
		d.failAt(path, "its first word must be the name or the absolute path of a program")
	}
}

// minSecretPart is the least length of a part of an address that is taken for a secret. Names
// of hosts, topics and paths are shorter.
const minSecretPart = 16

var notSecret = lazyregexp.New(`^[a-z]+([-_.][a-z]+)*$`) // words

// secretParts are the parts of an address that let everybody post there.
func secretParts(address string) (parts []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	for _, part := range strings.FieldsFunc(u.EscapedPath()+"/"+u.RawQuery, func(r rune) bool { return strings.ContainsRune("/&=", r) }) {
		if len(part) >= minSecretPart && !notSecret.MatchString(part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// noteSecrets adds what is secret of the notifications by its form.
func noteSecrets(all []Notification, set map[string]bool) {
	for _, n := range all {
		for _, part := range secretParts(n.Address()) {
			set[part] = true
		}
	}
}

// String keeps what is secret out of messages.
func (n Notification) String() string { return fmt.Sprintf("notification %v", n.Ways()) }
