package rest

import "testing"

func TestAddresses(t *testing.T) {
	for address, refused := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "10.0.0.1:443": false, "140.82.112.3:443": false, "[2001:db8::1]:443": false,
		"169.254.169.254:80": true, "[::ffff:169.254.169.254]:80": true, "0.0.0.0:80": true, "[::]:80": true,
		"[fe80::1%eth0]:80": true, "[fd00:ec2::254]:80": true, "224.0.0.1:80": true, "host:80": true,
	} {
		if err := checkAddress("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTransport(t *testing.T) {
	own := NewTransport()
	if own.Proxy == nil {
		t.Error("the proxy of the environment is not used")
	}
	if own.TLSClientConfig != nil && own.TLSClientConfig.InsecureSkipVerify {
		t.Error("certificates are not checked")
	}
}
