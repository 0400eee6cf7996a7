"""Every value here is random and was put together at run time; none was ever issued."""

from __future__ import annotations

import ast
import base64
import gzip
import html
import importlib.util
import json
import random
import re
import string
import sysconfig
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from bounded import is_bounded
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from forsy_retrace.redact import masked, texts_of
from forsy_retrace.redaction import Leak, Masker, mask
from forsy_retrace.redaction import rules as rule_files
from forsy_retrace.redaction.engine import Literals, compile_users, optional
from forsy_retrace.redaction.scan import rules
from forsy_retrace.redaction.spread import Spread
from forsy_retrace.redaction.views import views
from forsy_retrace.sdk import subagent
from forsy_retrace.trace import shortened

BENCH = Path(__file__).resolve().parents[2] / "shared" / "secrets"
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
dice = random.Random()


@pytest.fixture(autouse=True)
def _the_same_secrets_on_every_run() -> None:
    dice.seed(20)


def some(length: int, letters: str = ALNUM) -> str:
    return "".join(dice.choice(letters) for _ in range(length))


def password() -> str:
    return "Zq" + some(9) + "7!" + some(3)


TOKENS: dict[str, Callable[[], str]] = {
    "github": lambda: "gh" + "p_" + some(36),
    "gitlab": lambda: "gl" + "pat-" + some(20),
    "anthropic": lambda: "sk" + "-ant-api03-" + some(93) + "AA",
    "openai": lambda: "sk" + "-proj-" + some(120),
    "aws": lambda: "AK" + "IA" + some(16, string.ascii_uppercase + "234567"),
    "google": lambda: "AI" + "za" + some(35),
    "slack": lambda: "xo" + "xb-" + some(12, string.digits) + "-" + some(24),
    "stripe": lambda: "sk" + "_live_" + some(40),
    "jwt": lambda: "ey" + "JhbGciOiJIUzI1NiJ9.ey" + some(50) + "." + some(43),
    "telegram": lambda: some(9, "123456789") + ":A" + "A" + some(33),
    "terraform": lambda: some(14) + ".atlas" + "v1." + some(64),
    "vault": lambda: "hv" + "s." + some(90),
    "age": lambda: "AGE-SECRET" + "-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "azure": lambda: some(3) + "8Q" + "~" + some(34),
}

OF_A_FORM: dict[str, str] = {
    "adafruit": "aio_{28A}",
    "aikido-ci": "AIK_CI_{24A}",
    "aikido-secret": "AIK_SECRET_{64A}",
    "alibaba-temporary": "STS.N{24A}",
    "alibaba-session": "CAIS{300A}",
    "authress-client": "sc_{12b}.{5b}.acc-{14b}.{60A}",
    "aws-older": "A3TX{16T}",
    "aws-registry": "eyJwYXlsb2FkIjoi{900A}{900A}{400A}==",
    "backblaze": "K001{27A}",
    "brave": "BSA{27A}",
    "buildkite-access": "bkaa_{60A}",
    "canva": "cnvca{51A}",
    "ceph": "AQ{36A}==",
    "cloudflare-tunnel": "eyJhIjoi{120A}",
    "cockroach": "CCDB1_{22A}_{40A}",
    "configcat": "configcat-sdk-1/{22A}/{22A}",
    "context7": "ctx7sk-{8x}-{4x}-{4x}-{4x}-{12x}",
    "datadog-application": "ddapp_{34A}",
    "daytona": "dtn_{64x}",
    "deepl": "{8x}-{4x}-{4x}-{4x}-{12x}:fx",
    "digitalocean-spaces": "DO00{16B}",
    "dingtalk": "SEC{64x}",
    "docker-swarm": "SWMTKN-1-{50b}-{25b}",
    "exoscale": "EXO{26A}",
    "figma-user": "figu_{40A}",
    "gitlab-runner-registered": "glrtr-{20A}",
    "google-code": "4/0A{70A}",
    "intra-42": "s-s4t2af-{64x}",
    "k3s": "K10{64x}::server:{32x}",
    "kaggle": "KGAT_{32x}",
    "linkedin": "WPL_AP1.{16A}.{8A}==",
    "llama-cloud": "llx-{48A}",
    "matrix": "syt_{12A}_{20a}_{6A}",
    "mercadopago": "APP_USR-{16d}-{6d}-{32x}-{9d}",
    "nats-user": "SUA{55T}",
    "neptune": "eyJhcGlfYWRkcmVzcyI6{120A}",
    "newrelic-license": "eu01xx{30x}NRAL",
    "ntfy": "tk_{29A}",
    "onesignal": "os_v2_app_{103t}",
    "ory": "ory_st_{32A}",
    "plaid-report": "asset-report-production-{8x}-{4x}-{4x}-{4x}-{12x}",
    "porkbun": "sk1_{64x}",
    "qstash": "eyJVc2VySUQiOi{80A}",
    "runpod": "rpa_{40B}{6A}",
    "salesforce-refresh": "5Aep861{90A}",
    "salesforce-session": "00D{12A}!AQ{90A}",
    "shopify-theme": "shptka_{32x}",
    "slack-enterprise": "xoxe-{12d}-{12d}-{12d}-{30A}",
    "slack-refresh": "xoxr-{12A}",
    "socket": "sktsec_{44A}",
    "stripe-restricted": "rk_prod_{24A}",
    "things-network": "NNSXS.{39T}.{52T}",
    "trello": "ATTA{72x}",
    "trigger-development": "tr_dev_{20A}",
    "twilio-key": "SK{32X}",
    "twitch-chat": "oauth:{30b}",
    "upcloud": "ucat_01{24B}",
    "chromatic": "chpt_{15x}",
    "launchdarkly-mobile": "mob-{8x}-{4x}-{4x}-{4x}-{12x}",
    "percy": "web_{64x}",
    "pubnub": "sec-c-{48A}",
    "secret-key-dashes": "sk-{14A}-{14A}_{12A}",
    "turnstile": "0x4AAAAAAA{25A}",
    "twitter-bearer": "AAAAAAAAAAAAAAAAAAAAAD{24A}%2B{24A}%3D{24A}",
    "unleash": "default:production.{56x}",
    "vercel": "vcp_{27A}-{14A}_{13A}",
    "vercel-gateway": "vck_{56A}",
    "woocommerce-secret": "cs_{40x}",
    "xai": "xai-{40A}-{39A}",
    "xata": "xau_{40A}",
    "bcrypt-in-base64": "JDJhJDEwJ{70A}",
    "dpapi": "01000000d08c9ddf0115d1118c7a00c04fc297eb{200x}",
    "signify": "RWRCSw{130A}==",
    "jenkins": "{{AQAAABAAAA{48A}=}}",
}
"""Tokens by their literals: a number of letters of which kind."""
LETTERS = {
    "A": ALNUM,
    "B": string.ascii_uppercase + string.digits,
    "T": string.ascii_uppercase + "234567",
    "X": "0123456789ABCDEF",
    "a": string.ascii_letters,
    "b": string.ascii_lowercase + string.digits,
    "d": "123456789",
    "t": string.ascii_lowercase + "234567",
    "x": HEX,
}

AROUND = [
    "{}",
    "DEBUG=1\\n{}\\nPORT=80",
    "\x1b[32m{}\x1b[0m",
    "\\u001b[32m{}\\u001b[0m",
    "&quot;{}&quot;",
    "%22{}%22",
    "\u200b{}\u200b",
    '{{\\\\\\"token\\\\\\": \\\\\\"{}\\\\\\"}}',
    "     7→{}",
    "see {}.",
]

UNDER_A_KEY = [
    ('password = """{}"""', 'password = """'),
    ("token = Buffer.from('{}', 'base64')", "', 'base64')"),
    ('password = base64encode("{}")', "base64encode("),
    ('keyring.set_password("svc", "bob", "{}")', '"svc", "bob", "'),
    ('.withPassword("{}")', "withPassword("),
    ('User.builder().password("{}").build()', ".build()"),
    ("bob:{{PLAIN}}{}:1000", "bob:{PLAIN}"),
    ('spawn ssh h\nsend "{}\\r"', "spawn ssh h"),
    ("gem push --key {} x.gem", "x.gem"),
    ("hydra -l bob -p {} ssh://h.example", "hydra -l bob -p "),
    ("winrm get x -u:bob -p:{}", "-u:bob -p:"),
    ("impacket-psexec ACME/ops:'{}'@h.example", "@h.example"),
    ("<auth-user-pass>\nbob\n{}\n</auth-user-pass>", "\n</auth-user-pass>"),
    ("SQLConnectInfo db@localhost ops {}", "db@localhost ops "),
    ("sed -i 's/changeme/{}/' .env", "s/changeme/"),
    (
        "build\tRun x\t2024-05-01T10:00:00.1234567Z - name: DB_PASSWORD\n"
        "build\tRun x\t2024-05-01T10:00:00.1234567Z   value: {}\n",
        "- name: DB_PASSWORD",
    ),
    ("swaks --to a@b.example -au bob -ap '{}'", "-au bob -ap '"),
    ("veracrypt -t -p '{}' --mount v.hc /mnt", "--mount v.hc"),
    ("qpdf --encrypt u2 {} 256 -- a.pdf b.pdf", "256 -- a.pdf"),
    ("mcrcon -H h.example -p {} list", "list"),
    ("caddy hash-password --plaintext '{}'", "--plaintext '"),
    ("networksetup -setairportnetwork en0 'The Office' {}", "en0 'The Office' "),
    ("ab -A ops:{} https://x.example/", "-A ops:"),
    ("secretsdump.py 'ACME/ops:{}@h.example'", "@h.example"),
    ("reg add HKLM\\a /v DefaultPassword /t REG_SZ /d {} /f", "/t REG_SZ /d "),
    ("    DefaultPassword    REG_SZ    {}", "REG_SZ    "),
    ("/msg NickServ IDENTIFY {}", "IDENTIFY "),
    ("/msg NickServ IDENTIFY {} && echo ok", "IDENTIFY "),
    ("htpasswd -nbB ops {} && echo ok", "htpasswd -nbB ops "),
    ("htpasswd -b -C 10 users ops {} && echo ok", "users ops "),
    ("echo '{0}\\n{0}' | sudo passwd ops", "| sudo passwd ops"),
    ("Jenkins-Crumb: {}", "Jenkins-Crumb: "),
    ("salt '*' user.setpassword ops {}", "user.setpassword ops "),
    ("define('LOGGED_IN_KEY',    '{}');", "'LOGGED_IN_KEY'"),
    ("PS C:\\> $env:DB_PASSWORD\n{}\n", "$env:DB_PASSWORD"),
    (".ASPXAUTH={}; path=/", "; path=/"),
    ("echo '{}' | pass insert -e prod/db", "| pass insert -e"),
    ("echo '{}' > .vault_pass", "> .vault_pass"),
    ("echo -n 'ops:{}' | base64", "'ops:"),
    ("\\set pw '{}'", "set pw '"),
    ('curl --form "key=DB_PASS" --form "value={}" https://x.example', "https://x.example"),
    ("ftp -n f.example <<EOF\nuser ops {}\nput a\nEOF", "user ops "),
    ("vpnuser\tl2tpd\t{}\t*", "vpnuser\tl2tpd\t"),
    ('"isp-user" * "{}" *', '"isp-user" * "'),
    ('+"isp-user" * "{}" *', '"isp-user" * "'),
    ("stats auth admin:{}", "stats auth admin:"),
    ("cache_peer p.example parent 3128 0 login=proxy:{}", "login=proxy:"),
    ("user=turn:{}\nrealm=x.example", "user=turn:"),
    ("rootpw --plaintext {}", "rootpw --plaintext "),
    ("chpasswd:\n  list: |\n    ops:{}\n", "    ops:"),
    ("chpasswd <<EOF\nops:{}\nEOF", "ops:"),
    ("radius-server key {}", "radius-server key "),
    ("WIFI:T:WPA;S:Office;P:{};;", "S:Office;P:"),
    ('BUNDLE_GEMS__X__EXAMPLE="ci:{}"', '="ci:'),
    ("wsrep_sst_auth=sst:{}", "wsrep_sst_auth=sst:"),
    ("NEO4J_AUTH=neo4j/{}", "NEO4J_AUTH=neo4j/"),
    ("mdp : {}", "mdp : "),
    ("le mdp c'est {}", "le mdp c'est "),
    ("das pw ist {}", "das pw ist "),
    ("the pw for the staging db is {} and", "the pw for the staging db is "),
    ("用户名ops，密码{}", "用户名ops，密码"),
    ("Zugangsdaten: ops / {}", "Zugangsdaten: ops / "),
    ("identifiants : ops / {}", "identifiants : ops / "),
    ("<p>Password: <code>{}</code></p>", "<p>Password: <code>"),
    ("<dt>Password</dt><dd>{}</dd>", "<dt>Password</dt><dd>"),
    ("PDO->__construct('mysql:host=db', 'shop', '{}')", "'mysql:host=db', 'shop', '"),
    ("netlify env:set API_KEY {}", "netlify env:set API_KEY "),
    ("eas secret:create --name X --value {}", "--name X --value "),
    ("비번은 {} 입니다", "입니다"),
    ("Password ➜ {}", "Password ➜ "),
    ("Login: **ops** / **{}**", "Login: **ops** / "),
    ("Test account: jo@x.example / {}", "Test account: jo@x.example / "),
    ("Credentials: `ops` / `{}`", "Credentials: `ops` / `"),
    ("assert login('ops', '{}') == 200", "login('ops', '"),
    ('["redis-server", "--requirepass", "{}"]', '"--requirepass", "'),
    ('~ password = "{}" -> null', '~ password = "'),
    ("postgres://ops:p%40{}@db.example/x", "@db.example/x"),
    ('{{password, "{}"}}', "{password, "),
    ("sip:1001:{}@sip.x.example", "sip:1001:"),
    ("<password><![CDATA[{}]]></password>", "<![CDATA["),
    ("<name>password</name><value><string>{}</string>", "<string>"),
    ('{{"ParameterKey": "MasterUserPassword", "ParameterValue": "{}"}}', '"ParameterValue"'),
    ('{{"id": "https://kv.vault.azure.net/secrets/db/1", "value": "{}"}}', "/secrets/db/1"),
    ('{{"method":"login","params":["ops","{}"]}}', '["ops","'),
    ('conn.simple_bind_s("cn=admin,dc=acme", "{}")', '"cn=admin,dc=acme"'),
    ("FTP('ftp.x.example', 'ops', '{}')", "'ops', '"),
    ('AES.new(b"{}", AES.MODE_CBC, iv)', "AES.MODE_CBC"),
    ('WiFi.begin("Office", "{}");', '"Office", "'),
    ("cy.get('[name=password]').type('{}{{enter}}')", "{enter}"),
    ("DB_PASSWORD={}", "DB_PASSWORD="),
    ('"password": "{}", "port": 1', '"port": 1'),
    ("mysql -u root -p{} app -e 'select 1'", "app -e 'select 1'"),
    ("sshpass -p '{}' ssh a@b.example uptime", "uptime"),
    ("curl -u admin:{} https://x.example/y", "https://x.example/y"),
    ("redis-cli -h c -a {} ping", "ping"),
    ("ldapsearch -x -w {} -b dc=x", "-b dc=x"),
    ("docker login -u ci -p {} r.example", "r.example"),
    ("echo '{}' | sudo -S ls", "sudo -S ls"),
    ("net use Z: \\\\fs01\\share {} /user:x", "/user:x"),
    ("ConvertTo-SecureString '{}' -AsPlainText", "-AsPlainText"),
    ("ALTER USER app IDENTIFIED BY '{}';", "IDENTIFIED BY"),
    ("CREATE USER app WITH PASSWORD '{}';", "CREATE USER app"),
    ("openssl rsa -passin pass:{} -in k", "-in k"),
    ("machine h.example login ci password {}", "login ci"),
    ("Server=db;User ID=sa;Password={};Encrypt=true", "Encrypt=true"),
    ("<password>{}</password>", "</password>"),
    ('{{"name": "DB_PASSWORD", "value": "{}"}}', '"value"'),
    ("- name: DB_PASSWORD\n  value: {}\n", "- name: DB_PASSWORD"),
    ("the admin password is {}", "the admin password is"),
    ("kubectl create secret generic a --from-literal=p={}", "generic a"),
    ("mysqldump --user=root --password={} shop > x.sql", "--user=root --password="),
    ('["mysql", "-u", "root", "-p{}", "app"]', '"app"]'),
    ('["docker", "login", "-u", "ci", "-p", "{}"]', '"-u", "ci", "-p", "'),
    ('{{"command":"sqlcmd -S db -U sa -P {}"}}', "-P "),
    ("$(sqlcmd -S db -U sa -P {})", "sqlcmd -S db"),
    ("sqlplus scott/{}@ORCL", "@ORCL"),
    ("snmpwalk -v3 -A authentic7Key! -x AES -X {} host", "-x AES -X "),
    ("plink -ssh root@h.example -pw {} uptime", "uptime"),
    ("mosquitto_pub -h mq.example -u bob -P {} -t x", "-t x"),
    ("pulumi config set --secret dbPassword {}", "dbPassword "),
    ("aws ssm put-parameter --name /p --type SecureString --value '{}' --overwrite", "--overwrite"),
    ("java -jar jenkins-cli.jar -auth admin:{} list-jobs", "list-jobs"),
    ("CVSROOT=:pserver:bob:{}@cvs.example:/cvs", "@cvs.example:/cvs"),
    ("jdbc:oracle:thin:scott/{}@//ora.example:1521/X", "@//ora.example:1521/X"),
    ("ACL SETUSER bob on >{} ~* +@all", "~* +@all"),
    ("printf '%s' \"{}\" | docker secret create db_pass -", "| docker secret create"),
    ("fly secrets set NODE_ENV=production DB_PASSWORD={}", "NODE_ENV=production"),
    ("vault kv put -mount=secret app region=eu-west-1 password={}", "region=eu-west-1"),
    ("requests.get(url, auth=('svc-report', '{}'))", "'svc-report'"),
    ('imap.login("bob", "{}")', '"bob"'),
    ("signInWithEmailAndPassword(auth, 'bob', '{}')", "auth, 'bob'"),
    ("await page.fill('#password', '{}');", "'#password'"),
    ("page.getByLabel('Password').fill('{}');", "getByLabel('Password')"),
    ("cy.get('input[name=password]').type('{}')", "cy.get"),
    ("driver.find_element(By.ID, 'password').send_keys('{}')", "By.ID"),
    ("child.expect('assword:')\nchild.sendline('{}')", "child.sendline"),
    ('{{"element": "Password field", "ref": "e12", "text": "{}"}}', '"ref": "e12"'),
    ('{{"name": "Password", "type": "textbox", "ref": "e5", "value": "{}"}}', '"textbox"'),
    ("etcdctl --user root:{} get a", "--user root:"),
    ("acme --basic-auth=bob:{} run", "--basic-auth=bob:"),
    ("restic --password-command 'echo {}' backup", "backup"),
    ("kubectl get secret a -o jsonpath='{{.data.p}}'\n{}\n$", "jsonpath="),
    ('DriverManager.getConnection(url, "app", "{}")', '"app", "'),
    ("new PDO($dsn, 'app', '{}')", "new PDO($dsn, 'app', '"),
    ("new Sequelize('shop', 'app', '{}', {{}})", "'shop', 'app', '"),
    ('sql.Open("mysql", "app:{}@tcp(db:3306)/shop")', "@tcp(db:3306)/shop"),
    ('<property name="hibernate.connection.password">{}</property>', "</property>"),
    ('<property name="password"><value>{}</value></property>', "<value>"),
    ("<property><name>x.Password</name><value>{}</value></property>", "</value>"),
    ("<key>ServerPassword</key>\n\t<string>{}</string>", "</string>"),
    ('<wsse:Password Type="x#PasswordText">{}</wsse:Password>', "</wsse:Password>"),
    ('<input type="password" name="p" value="{}">', 'name="p"'),
    ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', "type = string"),
    ('{{"admin_password": {{"sensitive": true, "value": "{}"}}}}', '"sensitive": true'),
    ("ENV['DB_PASSWORD'] ||= '{}'", "||="),
    ("postgres_password: !!str {}", "!!str"),
    ("OpenSSL::HMAC.hexdigest('SHA256', '{}', data)", "', data)"),
    ('new SecretKeySpec("{}".getBytes(), "HmacSHA256")', '"HmacSHA256")'),
    ("pymysql.connect('db', 'app', '{}', 'shop')", "', 'shop')"),
    ('Credentials.basic("bob", "{}")', 'basic("bob", "'),
    ("enable password 7 {}", "enable password 7 "),
    ('pre-shared-key ascii-text "{}"', "pre-shared-key ascii-text"),
    ("-[ RECORD 1 ]\nid       | 1\npassword | {}\n", "id       | 1"),
    ('1) "requirepass"\n2) "{}"', '1) "requirepass"'),
    ("dn: uid=a\nuserPassword:: {}\nuid: a", "uid: a"),
    ('["password"]=>\n  string(16) "{}"\n', "string(16)"),
    ('password: Optional("{}")', "Optional("),
    ('{{"token": {{"S": "{}"}}, "n": {{"N": "1"}}}}', '"N": "1"'),
    ('form-data; name="password"\r\n\r\n{}\r\n--x', 'name="password"'),
    ('req.SetBasicAuth("bob", "{}")', 'SetBasicAuth("bob", "'),
    ("curl_setopt($c, CURLOPT_USERPWD, 'bob:{}');", "CURLOPT_USERPWD, 'bob:"),
    ('db.auth("shop", "{}")', 'db.auth("shop", "'),
    ("EXEC sp_addlogin 'bob', '{}'", "sp_addlogin 'bob', '"),
    ("SELECT pgp_sym_decrypt(x, '{}')", "pgp_sym_decrypt(x, '"),
    ("HELLO 3 AUTH default {}", "HELLO 3 AUTH default "),
    ("security unlock-keychain -p {} build.keychain", "build.keychain"),
    ("acme sync -u bob -p {} --all", "--all"),
    ("steamcmd +login bob {} +quit", "+quit"),
    ("iscsiadm -o update -n node.session.auth.password -v {}", "auth.password -v "),
    ("pocketbase superuser upsert a@b.example {}", "superuser upsert "),
    ("Name             Value\n----             -----\nDB_PASSWORD      {}\n", "DB_PASSWORD      "),
    ('Dim strPwd As String = "{}"', 'strPwd As String = "'),
    ("password: &pw {}", "password: &pw "),
    ('{{user = 0x7f "a", password = 0x7e "{}", port = 2}}', "port = 2"),
    ("│ password │ {} │\n│ port     │ 5432 │\n", "│ port     │ 5432 │"),
    ("<Password><Value>{}</Value></Password>", "</Value></Password>"),
    ("define('AUTH_KEY',         '{}');", "define('AUTH_KEY',         '"),
    ("Server=a;UID=b;PWD={{{}}};Encrypt=yes", ";Encrypt=yes"),
    ("username ops privilege 15 password 0 {}", "username ops privilege 15 password 0 "),
    ("enable secret 5 {}", "enable secret 5 "),
    ("snmp-server community {} RO", " RO"),
    ("[smtp.example]:587 bob@b.example:{}", "[smtp.example]:587 "),
    ("mysqladmin -u root password '{}'", "-u root password '"),
    ("impdp system/{} directory=d", "directory=d"),
    ("cypher-shell -u neo4j -p {} 'RETURN 1'", "'RETURN 1'"),
    ("signtool sign /f c.pfx /p {} a.exe", "a.exe"),
    ("SET PASSWORD FOR 'a'@'%' = '{}';", "FOR 'a'@'%' = '"),
    ('DBI->connect("dbi:Pg:dbname=a", "app", "{}")', '"dbi:Pg:dbname=a", "app", "'),
    ("database('shop', 'app', '{}', 'Vendor', 'MySQL')", "'Vendor', 'MySQL'"),
    ('Credentials("Nexus", "n.example", "ci", "{}")', '"n.example", "ci", "'),
    ("jwt.encode(payload, '{}', algorithm='HS256')", "algorithm='HS256'"),
    ("jwt.sign({{ id }}, '{}')", "{ id }"),
    ("hmac.new(b'{}', body, 'sha256')", "body, 'sha256'"),
    ("crypto.createHmac('sha256', '{}').update(x)", ".update(x)"),
    ("read -r DB_PASS <<< '{}'", "read -r DB_PASS <<<"),
    ('{{default_user, <<"app">>}}, {{default_pass, <<"{}">>}}', '<<"app">>'),
    ('a1 LOGIN bob@b.example "{}"', "a1 LOGIN "),
    ('{{"Name":"/db_pass","Type":"SecureString","Value":"{}","Version":3}}', '"Version":3'),
    ('resource "random_password" "a" {{\n  length = 24\n  result = "{}"\n}}', "length = 24"),
    ("ConvertTo-SecureString -AsPlainText '{}' -Force", "-AsPlainText '"),
    ("C:\\Windows\\System32\\net.exe  user ops {} /add", "/add"),
    ("circleci context store-secret gh org ctx DB_PASS <<< '{}'", "DB_PASS <<< '"),
    ("addprinc -pw {} ops/x@X.EXAMPLE", "ops/x@X.EXAMPLE"),
    ("Inhoud van sleutel  : {}", "Inhoud van sleutel  : "),
    ("<keyMaterial>{}</keyMaterial>", "</keyMaterial>"),
    ("dn: cn=a\nunicodePwd:: {}\n", "dn: cn=a"),
    ('password: 0x48617262  "{}"', 'password: 0x48617262  "'),
    ("<master>{{{}}}</master>", "<master>{"),
    ('<apikeys><add key="https://n.example/v3" value="{}" />', "https://n.example/v3"),
    ('{{"bearer": {{"p.example": "{}"}}}}', '"p.example": "'),
    ("https://conda.anaconda.org/t/{}/acme", "/acme"),
    ('db.changeUserPassword("app", "{}")', '"app", "'),
    ('client.username_pw_set("dev", "{}")', '"dev", "'),
    ("user app on >{} ~* +@all", "user app on >"),
    ("SQL> connect app/{}@ORCL", "@ORCL"),
    ("createUser ops SHA-256 aLongEnough7 AES {}", " AES "),
    ("snmp-server user ops grp v3 auth sha aLongEnough7 priv aes 128 {}", " priv aes 128 "),
    ("mkstore -wrl w -createCredential ORCL app {}", "ORCL app "),
    ("set password_hash = crypt('{}', gen_salt('bf'))", "gen_salt('bf')"),
    ("WHERE user='bob' AND password=MD5('{}')", "password=MD5('"),
    ('printf "[client]\\npassword=%s" "{}"', 'password=%s" "'),
    ('PlainLoginModule required\n  username="a"\n  user_bob="{}";', 'user_bob="'),
    ("basic.auth.user.info=ops:{}", "user.info=ops:"),
    ("erl -setcookie {} -name a", "-name a"),
    ('wep_key0="{}"', 'wep_key0="'),
    ("password =3D {}", "password =3D "),
    ('"random_password", "a": [{{"b": {{"length": 9, "result": "{}"}}}}]', '"length": 9'),
    ('new UsernamePasswordCredentials("bob", "{}")', '"bob", "'),
    ('ds.setPassword("{}");', "setPassword("),
    ('ssh.Password("{}")', 'ssh.Password("'),
    ('smtp.PlainAuth("", "a", "{}", "m.example")', '"m.example")'),
    ('bcrypt.hashpw(b"{}", bcrypt.gensalt())', "bcrypt.gensalt()"),
    ('bcrypt.GenerateFromPassword([]byte("{}"), 10)', "), 10)"),
    ("password_hash('{}', PASSWORD_DEFAULT)", "PASSWORD_DEFAULT"),
    ('check_password_hash(known, "{}")', "(known, "),
    ('User.objects.create_superuser("bob", "b@x.example", "{}")', "create_superuser("),
    ('ftp_login($c, "bob", "{}");', '"bob", "'),
    ('.password("{{noop}}{}")', "{noop}"),
    ('.basic_auth("bob", Some("{}"))', '"bob", Some("'),
    ("f.basic_auth 'bob', '{}'", "'bob', '"),
    ('npmAuthIdent: "bob:{}"', "npmAuthIdent"),
    ('NEXUS_CREDS = "bob:{}"', '"bob:'),
    ('basic_auth = ["bob", "{}"]', '"bob", "'),
    ("knife bootstrap web1 -x ops -P {} --sudo", "--sudo"),
    ('dotnet user-secrets set "Db:Password" "{}"', '"Db:Password" "'),
    ("pass insert -e x <<< '{}'", "-e x <<< '"),
    ("network --wpakey={}", "--wpakey="),
    ("username ops privilege 15 secret {}", "privilege 15 secret "),
    (" ppp chap password 7 {}", "chap password 7 "),
    ("wpa-psk ascii 0 {}", "wpa-psk ascii 0 "),
    ("Password for the elastic user (reset with `x`):\n  {}\n", "(reset with `x`):"),
    ('env:\n  - {{name: API_TOKEN, value: "{}"}}', "name: API_TOKEN, value: "),
    ("admin login is ops / {}", "admin login is ops / "),
    ("keybase oneshot --paperkey '{} and more words'", "keybase oneshot --paperkey '"),
]

HARMLESS = [
    "base64 -d some_long_file_name_without_any_secret.b64 and atob(aVariableWithALongName)",
    "sed -e s/aaaaaaaaaaaaaaaaaaaaaaaaa/b/ file",
    "res.cookie('token', token, { httpOnly: true, sameSite: 'strict', maxAge: 3600 })",
    '{"name": "theme", "httpOnly": true, "value": "a-light-theme-for-the-day"}',
    '~ version = "1.2.3" -> "1.2.4"',
    "x_auth=oauth2:client_credentials",
    "define('PASSWORD_DEFAULT', 'bcrypt')",
    '#define TLS1_TXT_PSK_WITH_AES_128_CCM "PSK-AES128-CCM"',
    "<tr><th>Token</th><th>Means</th></tr><tr><td>next_token_2</td><td>an end</td></tr>",
    "<tr><th>Password</th><td>a</td></tr><tr><th>OAuth2Client</th><td>b</td></tr>",
    "seed: 42, mnemonic(words), from_phrase(text), the community: all of us",
    "import a/b2; connect to x/y2",
    "<phone>string</phone> customer_id > 1000 and <T extends customer>a1</a>",
    "Passcode: required; Passcode: 12; the passcode is 4 to 10 digits",
    "ssh.Password(password); password_hash($input); check_password(user, form)",
    "auth: ['jwt', 'oauth2']; password_hash('argon2id', x); seed: the quick brown fox jumps over"
    " the lazy dog and runs away home very fast now",
    '<lastName>Last</lastName> and "given_name": "Given"; Domain: cluster.local',
    "auth: ['read', 'write']; 'key' => 'posts.index', 'key' => 'value-of-it'",
    "BUILTIN\\Users S-1-5-32-545; the user name: (optional)",
    '"preferred_username": claims["sub"], samaccountname = attribute',
    '["docker", "login", "--password-stdin", "registry"]',
    "密码长度不能少于8位 密码hash_password_v2",
    "Password ➜ Profile and Password: <code>string</code>",
    "login with Google / GitHub; Credentials: username / password",
    "use this token budget of 128000 tokens and with this key insight",
    "SUMMARY;CN=Weekly Sync:ok",
    "sk-cube-grid-animation-delay sk_X509V3_EXT_METHOD_new_reserve(cmp)",
    "nx run web_app:production.build",
    "the format_0123456789_s1 of it",
    "SUAVE SOAP SAALE and the scale of SCANNING",
    "memory_at_the_time_of_the_first_write_2 = 0",
    "TEST-2024-06-01 and TEST-1234567890123456",
    "oauth:read_write_everything_in_the_org",
    "task_0123456789_of_the_row and tk_label_of_the_window_below",
    "BSA-compliant and BSAccessibilityElementOfTheWindow",
    "All gates pass:\n- **Build succeeds** - as it should\n- TypeScript5-clean\n",
    "passwords:\n  - Must be long\n  - `zod` checks them\n",
    "the `password` is `required` and the `token` is `expired`",
    "set `token` to `null`; `secret` to `process.env.SECRET`",
    'password = "the word" + " and more of it"',
    'tokens = ["Hello", "World2000", "foo-bar-baz"]',
    "api_keys:\n  - name: first\n  - name: second\n",
    "secretPath: '/var/lib/app/releases/20240102030405/config'",
    '"password": "Required!", "confirm": "Password!"',
    "define('DB_PASSWORD', '');",
    "https://x.example/?page=2&code=42&sid=none",
    "routing_key: orders.created.v2",
    "прочти ключ API: позже",
    "tokens = ['ghp_', 'gho_', 'github_pat_', 'glpat-']",
    "curl -u $USER https://x.example/a",
    "veracrypt --text --mount v.hc /mnt",
    "qpdf --encrypt '' '' 256 -- a.pdf b.pdf",
    "print('-' * 40)\n\"a\" * 3",
    "user=1000:1000\nenv=TZ:UTC",
    "chpasswd:\n  expire: false\n",
    "erlang {password, Password}",
    "the wifi: P is for the parent",
    '{"method":"login","params":[]}',
    "const { password, email } = form; secret, token",
    "dig example.com MX +short -t txt",
    "the setup key: some keys need more work then",
    "keypair: [1, 2, 3]",
    "echo 'see the readme' > token.txt",
    "echo 'hello:world' | base64",
    '<value name="a"><![CDATA[some text]]></value>',
    '<v-text-field v-model="form.password" :rules="passwordRules" type="password" />',
    '"<v-text-field v-model=\\"form.password\\" :rules=\\"passwordRules\\" />"',
    "Sec-WebSocket-Key: " + "6PBblw" * 3 + "A1fQ==",
    '"hashed_secret": "' + "2a4f6fd3cb" * 4 + '", "is_verified": false',
    "DB_PASSWORD=vault:secret/data/db#password",
    "  encryptedData:\n    password: AgB" + "yf53Dc690bCQNltiG6he" * 8,
    "runner@fv-az123-456:~/work$ env",
    "+470031675486-" + "vz5wq1" * 5 + ".apps.googleusercontent.com",
    "commands identified by `code` are jumps",
    'METHOD can be "md5", "password", "scram-sha-256"',
    "('crc-16-buypass', 'Crc16Buypass')",
    '"AggregationAuthorization": "af318b77aaceeeaa"',
    "file_secret_settings: PydanticBaseSettingsSource",
    '"result_key": "ServerlessV2PlatformVersions"',
    "--change-token 8f14e45f-ceea-467f-9b2a-8f14e45fceea --force",
    '"IdempotencyToken": "8f14e45f-ceea-467f-9b2a-8f14e45fceea"',
    "x/a.py,sha256=" + "qaN7x2Lk9Tz" + "-fw_" + "htIgAbCdEfGhIjKlMnOpQrStUv12,123",
    "golang.org/x/a v0.1.0 h1:" + "Zk3xQ9b7LwT8" + "+u+" + "eyqUyEU51Bc8wXa2Kf9=",
    "{\\\\rtf1 \\\\pard2\\\\cellx150 text}",
    "#define TLS1_CK_PSK_WITH_RC4_128_SHA  0x0300008A",
    "m3OTPJHgoXb1Tq8mVn2LcR ch_1p9YqOtPk3Zw7mNx4Lb",
    "password = get_password()",
    "from google.protobuf.internal import builder",
    "private_key = ed25519.Ed25519PrivateKey.from_private_bytes(secret)",
    "    RSAPrivateKey = rfc3447.RSAPrivateKey",
    '"fail_on_invalid_token": InvalidNextTokenException,',
    '"minipass": "^7.0.3",',
    "see /home/node_modules/x and node_modules",
    "the --username and --password options",
    "Using --password via the CLI is insecure.",
    "'password' => 'required|min:8|confirmed'",
    "the mnemonic is made of chance\nand the user writes it down",
    "snmp-server community public RO",
    'password = getpass.getpass("Password: ")',
    "const token = process.env.GITHUB_TOKEN;",
    "DB_PASSWORD=${DB_PASSWORD}",
    "def verify(token: str, secret_key: bytes) -> bool:",
    "    api_key: Optional[str] = None",
    "password: string;\n  confirmPassword: string;",
    "primary_key=True, foreign_key='users.id', sort_keys=True",
    '"usage":{"input_tokens":15214,"cache_read_input_tokens":63498}',
    "max_tokens=4096, token_count=50297",
    '{"password": null, "token": "", "api_key": null}',
    "The password must be at least 12 characters and contain a digit.",
    "ssh-keygen -t ed25519 -f id_ed25519 -N '' -C deploy",
    "commit " + "3f2a9c41" * 5,
    "sha256:" + "5fd1f646" * 8,
    '"integrity": "sha512-' + "PG0A4ri/ERK7tO7b" * 5 + '=="',
    '{"type":"tool_use","id":"toolu_01' + "jqu1AavEF0jdRAd6KyShoB" + '"}',
    '{"sessionId":"49427c2d-598d-4c04-9de6-4786886c5587","isSidechain":false}',
    'const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";',
    "re.compile(r'sk-ant-[a-zA-Z0-9_-]{20,}')",
    "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE",
    "export OPENAI_API_KEY=your-api-key-here",
    "--- PASS: TestShellCompletion/zsh (0.00s)",
    "git clone git@github.com:psf/requests.git",
    "@app.route('/users')",
    "user@example.com and noreply@github.com",
    "http://localhost:3000 127.0.0.1:8080 version 10.2.3.4 released",
    "/home/user/project /root/.cache /Users/username/x",
    "GET https://api.shop.dev/scim/Users/2819c223-7f76 and /v2/Users/123",
    "root@container:/app# ls",
    "drwxr-xr-x  6 root root 4096 Jun 10 10:00 .",
    "valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password",
    "def get_customer(customer_id: int) -> Customer:",
    "threading.local() and .env.local and os.path.local",
    "postgres://localhost:5432/app_test",
    "mysql --protocol=tcp -h db",
    "mysqldump --port=3306 shop",
    "docker run --name mysql -p3306:3306 mysql:8",
    "unzip archive-Prod2.zip",
    "7z l my-pictures2",
    "rar a x.rar my-pics2",
    "zip -r o.zip Foo-Photos1",
    "helm install mysql bitnami/mysql -n non-prod2",
    "cd mysql && git checkout feature-payments2",
    "pip install mysqlclient some-package2",
    "redis-cli -h c multi-a node",
    "curl --url=http://localhost:9200/_cat",
    "curl --user-agent=Bot:v1.2 https://x.example",
    "curl https://hub.example/v2/my-ubuntu:22.04/tags",
    "curl -X POST https://x.example/v1/app-users:batchGet",
    "curl -Lu https://x.example:443/",
    "ldapsearch -x -s base",
    "psql -P format=unaligned",
    "net use Z: \\\\srv\\share /persistent:yes",
    "fly secrets set NODE_ENV=production REGION=eu-west-1",
    "vault kv put secret/app region=eu-west-1",
    "kubectl create secret generic a --from-literal=mode=read-only2",
    "printf 'y\\n' | gh auth login --with-token",
    "SSH_AUTH_SOCK=/tmp/ssh-Xa9sKd02/agent.1234",
    "secretArn: arn:aws:secretsmanager:us-east-1:123456789012:secret:db-x7Kp2Q",
    "'getpass': 'getpass#module-getpass',",
    "gcloud run deploy --set-secrets=DB_PASS=db-pass:latest",
    "function r(t){return t.password===n.a9?e(t.token,x7Q):null}",
    'grep -E "(FAIL|PASS|Error|fatal)"',
    "| Config directory | PASS | `.kiro/` |",
    "cat password | base64 -d | tr a b2",
    " 36f8c85 vendor/auth-token (v1.2.0-3-ge1ad23c)",
    "パスワードは8文字以上にしてください",
    "checksum token: crc32c=NYkxmA==",
    '"AWS::EC2::EnclaveCertificateAssociation": "dc84a895188dd6d1"',
    "PrivateOKPKey = Ed448PrivateKey | X25519PrivateKey | X448PrivateKey",
    'SESSION_AUTH = (\n    "AWS::S3::DisableS3ExpressSessionAuth"\n)',
    'passwd_pattern = (\n    r"^[A-Z0-9]{8,64}$|x!"\n)',
    "failing to set pskIdentityHint `'tlsClientError'` will be",
    '{"hookName":"PostToolUse:Glob","toolUseID":"toolu_01' + "uA4jP1ChfMdcZ8CCjtTTKx" + '"}',
    '{"recipient":"github","callId":"call_' + "Y2dCV43FbSiHvKdYXuK5pdny" + '"}',
    "OpenAI request req_" + "793a67c9e2ed829af48d9d59ce6ca6b0" + " failed",
    "Stripe event evt_" + "1Nnx7IfDH5mMDdwin86TkVYC" + " delivered",
    "Notion page Meeting-Notes-" + "07c37e255eb8a1c095409993fd21b5aa",
    "figma file key " + "dQslr57QqaKHsmUxhkwyjS",
    "VITE_AUTH0_CLIENT_ID=" + "LjY9DnGhYSzvXBIuvnTefoOWpYykpTA9",
    "README globals: " + "Lr4XF3OhMakMce4owGCHn4LOV0yT",
    "together with " + "zW4Nm_gVDqObaq3bR3WVDiSvsneI" + " as nanoid",
    "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "OMqqnkVzrm0SdG6UOoqKLsabgH5C9ok",
    "displayName: 'Button Primary'",
    '"displayName": "Azure CLI"',
    'Card.displayName = "Card Header"; login(me)',
    "fullName: 'Main Window'",
    '"author": "Eyewitness News"',
    'FIELD_PASSWORD = "userPassword"',
    "SHA256 (passwd.tgz) = " + "5fd1f646" * 8,
    "password: kwargs; password: mismatched",
    '"password": "Wachtwoord", "password": "Adgangskode"',
    "PBKDF2-HMAC-SHA512 (the password KDF)",
    "Argon2id is our password function",
    "password - at least 12 chars, 1 digit",
    "pass: src/a.test.ts (5.12s)",
    "login: username / email",
    "log in with Google / GitHub",
    "my key takeaway is this",
    "credentials: include / omit / same-origin",
    "docker run --user 1000:1000 a; docker run --user node:node b",
    "INSERT INTO users (name, password) VALUES (?, ?), ($1, $2), (:a, :b)",
    "INSERT INTO users (name, password) VALUES ('x', crypt('y', gen_salt('bf')))",
    "| Field | Password |\n|---|---|\n| x | optional |\n",
    "name       password\n---------- --------\nbob        NULL\n",
    '<string name="password">Passwort eingeben</string>',
    '<input type="password" name="password" value="" />',
    '{"token": {"kind": "IDENT", "value": "getElementById2"}}',
    'variable "db_password" {\n  type = string\n}',
    "mysqli_connect($host, $user, $pass, $db)",
    '"user:password@tcp(127.0.0.1:3306)/db"',
    "path('reset-password/<uidb64>/<token>/', view)",
    "@@ -31,6 +31,8 @@\n+31 612345670\n+4915123456780",
    "UTC+10 2024, 2024-01-01T10:00:00+0530, x = a +44 20 30",
    '"integrity": "sha512-vTLC/T/aq1HBvL9kQmWxYpR3uN2sD8eGzX7cFhJ5oKiM4bVyAwZ6tPnqUdlrOg=="',
    "mobile: 1080 1920, phone: 555-0123, tel: 123-456-7890",
    "(555) 555-0123, f(416) 628-3947 and (404) 628-39475",
    "IBAN: NL00 BANK 0283 9417 05",
    "card number 4539 7629 1830 4726",
    "Dear Customer Support,\n",
    "password      | optional\n│ password │ required │\n",
    "test_password          PASSED\ntest_token             SKIPPED",
    "Password              varchar(255)    not null",
    "f'SERVER={s};UID={uid};PWD={pwd};' 'PWD={cfg.pass2}'",
    "Dim strPwd As String",
    "password: &default_password\n  value: x",
    "password = ('optional'\n  'when a key is given')",
    "secret_id = google_secret_manager_secret.db.id; SecretId: prod/db1",
    "app password: they were here once",
    "no snmp-server community\nusername ops password policy2",
    "new Client('acme-web', 'f6d64af4-5e6e-426d-a653-0c8d0500f520')",
    "{token = 0x0, password = 0x7ffe1234 <buf>}",
    "token | wc -l\npassword | head\npassword | required\n",
    "terraform output -raw region\neu-west-1\n",
    "docker run -u 1000 -p 127.0.0.1:8080:80 a; psql -U app -p 5432; sync -u a -p src/b2",
    "vault kv get -field=password secret/x\nNo value found at secret/data/x",
    "password ssl_ctx_tmp_dh, password fnPtr->bufLen, password XMLHttpRequest.open",
    "The password is Username@Domain!",
    "  User interface\nThe User jvermeer\n",
    "das Passwort auf der Seite, le mot de passe sur le serveur2",
    'form-data; name="password"\r\n\r\n\r\n--x',
    "driver 10.42.204.17, release 10.42.204.17",
    "git config user.name; git config user.name CI; user.name = shopping",
    "root  pts/0  2026-02-03\nAccepted publickey for root from 203.0.113.9 port 5",
    "socket.connect('a', 'b', 'c'); app.connect('clicked', 'on_click', 'data2x')",
    "enable password encryption; pre-shared-key local",
    "SecretId=MyTestDatabaseSecret1 --secret-id-list MySecret1 MySecret2",
    '--secret-id="projects/shop/secrets/db-pass/versions/latest"',
    "decryption_key: Base64-encoded decryption key",
    "jwt.encode(claim, key, 'RS256')",
    "codex_session rollout-2026-02-03T09-11-02-03f2b055-483b-c600-d28d-0de9f170bd74.jsonl",
    "sed -i 's/password: .*/password: \"\"/' config.yml",
    "PWD=/srv\nOLDPWD=/\nPWD=/data/shop2",
    "kubectl create secret generic a --from-literal=user=shop --from-literal=mode=read-only2",
    "the password that was set is optional, the token you need is here",
    "the password you typed is wrong; the token we use is opaque",
    "what password do I need to log in to server2",
    "the pw is required, pw = input()",
    "密码是必填项，至少8个字符。",
    "password: “optional”",
    "New-LocalUser -Password (Read-Host -AsSecureString)",
    "mysqladmin -u root password",
    "impdp system directory=/dumps/a1",
    "signtool sign /f c.pfx /tr http://t.example/a1 a.exe",
    "jwt.encode(payload, settings.SECRET_KEY, algorithm='HS256')",
    "jwt.decode(token, options={'verify_signature': False})",
    "hmac.new(key, body, 'sha256'); createHmac('sha256', secret)",
    "user@host.example LOGIN page2 opened",
    '"Type": "SecureString", "Value": "*****"',
    'resource "random_password" "a" {\n  length = 24\n}',
    "The following codes are known:\n\nE1001 unknown\nE1002 timeout",
    "Status codes:\n200\n404\n500",
    "rtmp://live.example/app/stream",
]


@pytest.mark.parametrize("vendor", TOKENS)
@pytest.mark.parametrize("around", AROUND)
def test_a_token_is_masked_whatever_stands_beside_it(vendor: str, around: str) -> None:
    token = TOKENS[vendor]()
    masked = mask(around.format(token))
    assert token not in masked
    assert token[-12:] not in masked
    assert "[CREDENTIAL_1]" in masked


@pytest.mark.parametrize("vendor", OF_A_FORM)
@pytest.mark.parametrize("around", ["see {} there", '["{}"]', "\x1b[32m{}\x1b[0m"])
def test_a_token_is_known_by_its_form_alone(vendor: str, around: str) -> None:
    parts = re.split(r"\{(\d+)(\w)\}", OF_A_FORM[vendor])
    letters = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    token = parts[0] + "".join(some(int(n), LETTERS[kind]) + then for n, kind, then in letters)
    masked = mask(around.format(token))
    assert not any(token[at : at + 12] in masked for at in range(len(token) - 11))


def test_a_word_that_is_a_constant_or_a_flags_argument_is_a_password_where_it_is_called_so() -> (
    None
):
    assert mask("define('DB_PASSWORD', 'fjordlake');") == "define('DB_PASSWORD', '[CREDENTIAL_1]');"
    assert mask('["--password", "fjordlake"]') == '["--password", "[CREDENTIAL_1]"]'
    assert mask("env('DB_PASSWORD', 'fjordlake')") == "env('DB_PASSWORD', 'fjordlake')"


def test_a_key_is_known_by_the_words_that_hand_it_over() -> None:
    said = f"please use this key {some(32)} for the calls"
    assert mask(said) == "please use this key [CREDENTIAL_1] for the calls"
    assert mask("use this key when you can") == "use this key when you can"


def test_both_values_of_a_plan_are_masked() -> None:
    old, new = password(), password()
    assert mask(f'~ password = "{old}" -> "{new}"') == (
        '~ password = "[CREDENTIAL_1]" -> "[CREDENTIAL_2]"'
    )


@pytest.mark.parametrize(
    "kept",
    [
        '{{"name": "li_at", "value": "{}", "domain": ".x.example", "sameSite": "Lax"}}',
        "{{'name': 'li_at', 'value': '{}', 'httpOnly': True, 'sameSite': 'None'}}",
        '[{{"domain": ".x.example", "httpOnly": true, "name": "li_at", "sameSite": "lax",'
        ' "session": false, "value": "{}"}}]',
        ".x.example\tTRUE\t/\tTRUE\t1799999999\tli_at\t{}\n",
        "#HttpOnly_x.example\tFALSE\t/a\tFALSE\t0\tli_at\t{}\n",
        "curl -b 'theme=dark; li_at={}; lang=nl' https://x.example",
        'curl https://x.example --cookie "a=1; li_at={}"',
        'requests.get(u, cookies={{"a": "1", "li_at": "{}"}})',
    ],
)
def test_the_cookies_that_browsers_and_clients_keep_are_masked(kept: str) -> None:
    assert mask(kept.format(some(40))) == kept.format("[CREDENTIAL_1]")


@pytest.mark.parametrize(
    "way",
    [
        "machine github.com login {} password x-oauth-basic",
        "machine github.com\n  login {}\n  password x-oauth-basic",
        "curl -u {}: https://x.example",
        "curl -sSLu {}:x-oauth-basic https://x.example",
    ],
)
def test_a_token_stands_where_a_login_is_asked_for(way: str) -> None:
    token = some(40, HEX)
    assert token not in mask(way.format(token))
    assert " deploy" in mask(way.format("deploy"))


@pytest.mark.parametrize(
    "way",
    [
        "echo {} | base64 -d",
        "base64 -d <<< '{}' > .env",
        "data:text/plain;base64,{}",
        '[Convert]::FromBase64String("{}")',
        "atob('{}')",
        "base64.b64decode('{}')",
    ],
)
def test_what_is_said_to_be_base64_is_decoded(way: str) -> None:
    secret = base64.b64encode(f"API_KEY={some(32, HEX)}\n".encode()).decode()
    assert mask(way.format(secret)) == way.format("[CREDENTIAL_1]")
    harmless = base64.b64encode(b"the weather is fine today").decode()
    assert mask(way.format(harmless)) == way.format(harmless)


def test_a_command_of_powershells_is_decoded() -> None:
    command = base64.b64encode(f'$password = "{password()}"'.encode("utf-16-le")).decode()
    assert mask(f"powershell -enc {command}") == "powershell -enc [CREDENTIAL_1]"


@pytest.mark.parametrize(
    "way", ["Passcode: {}", "**Passcode:** {}", '{{"otp": "{}"}}', '"pin": {}']
)
def test_figures_are_a_secret_where_they_are_called_a_code(way: str) -> None:
    assert mask(way.format("".join("739158"))) == way.format("[CREDENTIAL_1]")


def test_a_cell_that_is_wider_than_its_column_is_masked_whole() -> None:
    secret = some(32)
    table = f"login  password  role\n-----  --------  ----\nbob    {secret}  admin\n"
    assert mask(table) == table.replace(secret, "[CREDENTIAL_1]")


def test_a_user_and_a_password_in_base64_are_known_by_their_scheme() -> None:
    both = base64.b64encode(f"ops:{password()}".encode()).decode()
    assert mask(f'header="Basic {both}"') == 'header="Basic [CREDENTIAL_1]"'
    assert mask("Basic authentication and Basic implementation") == (
        "Basic authentication and Basic implementation"
    )


def test_the_key_of_gossip_is_masked_and_the_name_of_a_cipher_stays() -> None:
    key = base64.b64encode(some(32).encode()).decode()
    assert mask(f'{{"encrypt": "{key}"}}') == '{"encrypt": "[CREDENTIAL_1]"}'
    for harmless in ('encrypt = "aes-256-gcm"', "encrypt = Cipher.new(aes256gcm)"):
        assert mask(harmless) is harmless


@pytest.mark.parametrize("vendor", ["github", "anthropic", "openai", "stripe", "jwt", "vault"])
def test_a_token_broken_over_two_lines_is_masked_in_both(vendor: str) -> None:
    token = TOKENS[vendor]()
    cut = len(token) * 2 // 3
    masked = mask(f"token: {token[:cut]}\n{token[cut:]}\nnext")
    assert token[cut - 12 : cut] not in masked
    assert token[cut:] not in masked
    assert masked.endswith("next")


@pytest.mark.parametrize(
    ("template", "letters", "length"),
    [
        ("https://logs-01.loggly.com/inputs/0c3f9a71-{}/tag/http/", HEX, 27),
        ("see nsec1{} there", "023456789acdefghjklmnpqrstuvwxyz", 58),
    ],
)
def test_a_token_in_its_place_is_known(template: str, letters: str, length: int) -> None:
    secret = some(length, letters)
    assert secret not in mask(template.format(secret))


@pytest.mark.parametrize(("template", "kept"), UNDER_A_KEY)
def test_a_password_is_masked_and_the_words_around_it_stay(template: str, kept: str) -> None:
    secret = password()
    masked = mask(template.format(secret))
    assert secret not in masked
    assert kept in masked


@pytest.mark.parametrize(
    "place", ["password={}", "passwd: {}", '{{"password": "{}"}}', "pwd = '{}'"]
)
@pytest.mark.parametrize(
    "secret", ["sunshine-rain4", "correct-horse-9", "maple-2019", "my-db-lane1"]
)
def test_words_and_a_number_that_are_joined_are_a_password(place: str, secret: str) -> None:
    assert secret not in mask(place.format(secret))


@pytest.mark.parametrize(
    "said", ["min-length-8", "step-2", "form-item-2", "utf-8", "v1.2", "reset-token-1", "env.x1"]
)
def test_what_is_said_about_a_password_is_none(said: str) -> None:
    assert mask(f"password: {said}") == f"password: {said}"


def test_the_token_of_a_cluster_is_masked_and_the_hash_beside_it_stays() -> None:
    token = some(6, "abcdefgh234567") + "." + some(16, "abcdefgh234567")
    text = f"kubeadm join h.example:6443 --token {token} --discovery-token-ca-cert-hash sha256:"
    assert mask(text + "5fd1f646" * 8) == text.replace(token, "[CREDENTIAL_1]") + "5fd1f646" * 8


NAMES = [
    *("BACKEND_TOKEN", "RESEND_TOKEN", "X-Plex-Token", "COMPLEX_TOKEN", "AUTH_SERVICE_TOKEN"),
    *("AUTHENTICATION_TOKEN", "authorizationToken", "PASSENGER_TOKEN", "SESSION_STORE_SECRET"),
    *("PASSPORT_SECRET", "AZURE_SEARCH_KEY", "SESSION_KEY", "api.key", "app.access.key"),
    *("GITHUB_PAT", "npm_pat", "azurePatToken"),
    *("encryption-key", "Signing key", "Master key", "storageKey", "X-ZT1-Auth", "WALLET_SEED"),
    *(
        "validationKey",
        "decryptionKey",
        "TWITTER_BEARER",
        "CLIENT_CRED",
        "PEPPER",
        "DB_PASSWORD",
    ),
]
PASSWORDS = [
    *("keystore.password", "keyStorePassword", "KEYSTORE_PASSWORD", "AUTH_USER_PASSWORD"),
    *("server.ssl.key-store-password", "TEST_PASS", "bindpw", "LDAP_BINDPW", "DBPW"),
    *("contraseña", "Contraseña", "mot de passe", "Passwort", "senha", "пароль", "Пароль"),
    *("密码", "パスワード", "비밀번호", "hasło", "şifre", "lösenord", "adgangskode", "heslo"),
    *("salasana", "كلمة المرور"),
]
NO_SECRETS = [
    *("max_tokens", "nextPageToken", "token_count", "tokenType", "secret_name", "secretArn"),
    *("password_hash", "expected_token_hash", "PublicKeyToken", "primaryKey", "PUBLIC_KEY"),
    *("cache_key", "idempotencyKey", "sshPublicKey", "applicationServerKey", "authorName"),
    *("bypass", "smokePassed", "SSH_AUTH_SOCK", "WT_SESSION", "auth_url", "csrf_header_name"),
    *("file_path", "toolPath", "NPM_PATH", "last_patch"),
]


@pytest.mark.parametrize("name", [*NAMES, *PASSWORDS])
def test_the_name_of_a_key_says_that_its_value_is_secret(name: str) -> None:
    secret = some(32) if name in NAMES else password()
    for text in (f"{name}={secret}", f"{name}: {secret}"):
        assert mask(text) == text.replace(secret, "[CREDENTIAL_1]")


@pytest.mark.parametrize("name", NO_SECRETS)
def test_the_last_word_of_a_name_tells_what_it_names(name: str) -> None:
    for text in (f"{name}={some(32)}", f'"{name}": "{some(32)}"'):
        assert mask(text) is text


WAYS = [
    "**Password:** {}",
    "- **password**: {}",
    "*password*: {}",
    "<b>Password:</b> {}",
    "<td>Password</td><td>{}</td>",
    "| password | {} |",
    "the password ({}) is old",
    "I set the password to {} for now",
    "reset the password of bob to {}",
    "Here is the password:\n{}\n",
    "Password is:\n\n    {}\n",
    "password:\n  {}",
    '"password":\n   "{}"',
    "password = (\n    '{}'\n)",
    "use {} as the password.",
    "{} is my new password",
    "It is {} (the root password)",
    "my password's {}",
    "Password? {}",
    "pw: {}",
    "my pw is {}",
    "pass: {}",
    "pass phrase: {}",
    "login: bob / {}",
    "credentials: bob / {}",
    "A temporary password is generated for root@localhost: {}",
    "Resetting the password of bob to {}",
    "contraseña nueva: {}",
    "le mot de passe du serveur est : {}",
    "het wachtwoord van de server: {}",
    "пароль для входа: {}",
    "Password [None]: {}",
    "Passwort (neu): {}",
    'let password = Some("{}".to_string())',
    'password = String::from("{}")',
    'password=SecretStr("{}")',
    'password := []byte("{}")',
    "password = process.env.DB_PASSWORD || '{}'",
    'public string DbPassword {{ get; set; }} = "{}";',
    "DB_PASSWORD ?= {}",
    'password <- "{}"',
    "$password .= '{}'",
    "ENV DB_PASSWORD {}",
    "SetEnv DB_PASS {}",
    "set -gx DB_PASSWORD {}",
    "storePassword '{}'",
    "das Passwort lautet {}",
    "das Passwort für den Server ist {}",
    "la password è {}",
    "la clave es {}",
    "senha do banco: {}",
    "密码是{}",
    "パスワードは {} です",
    '[{{"domain":".x.example","name":"db_password","path":"/","value":"{}"}}]',
    "\\u001b[33mpassword\\u001b[0m: \\u001b[1m{}\\u001b[0m",
    "das Passwort für den Server lautet {} und gilt",
    "le mot de passe est « {} »",
    "Passwort: „{}“",
    "the password is “{}”.",
    "パスワードは「{}」です",
    "密码是 {}，端口 3306",
    "密码是`{}`",
    "`密码是{}` 端口",
    "密码：{}。",
    "hasło do serwera to {}",
    "mật khẩu là {}",
    "heslo je {}",
    "heslo k databázi je {}",
    "पासवर्ड: {}",
    "the password that opens the box is {}",
    "the password you asked for is {}",
    "the password for bob will be {}",
    "ich habe das Kennwort auf {} geändert",
    "mit dem Passwort {} anmelden",
    "zaloguj się hasłem {}",
]


def test_both_passwords_of_a_change_are_masked() -> None:
    for way in ("changed the root password from {} to {}.", "now from {} to {} (the password)"):
        old, new = password(), password()
        assert mask(way.format(old, new)) == way.format("[CREDENTIAL_1]", "[CREDENTIAL_2]")
    words = "changed the password field from optional to required2"
    assert mask(words) is words


def test_a_password_of_words_and_a_number_is_told_by_its_sentence() -> None:
    for way in ("the wifi pw is {}", "the wifi password is {}"):
        assert mask(way.format("lemon-Train-55")) == way.format("[CREDENTIAL_1]")


OF_PEOPLE = [
    "Meadow@{}",
    "Walnut-Tiger-{}",
    "L1zard_{}",
    "AmberCoffee{}",
    "Thunder{}!",
    "velvet1{}",
]


@pytest.mark.parametrize("made", OF_PEOPLE)
@pytest.mark.parametrize(
    "way",
    [
        "password {}",
        "user bob\npassword {}\nhost a.example",
        'set smtp-password "{}"',
        "I tried the password {} but it failed.",
        "user admin pass {} and try",
        "set password {} now",
        "Password → {}",
        "password (“{}”)",
        "password was changed from {} to another1!",
        "login: ops:{}",
        "the db creds are app / {}",
        "I use the credentials of the wiki (ops:{}).",
        "OPTIONS (user 'app', password '{}');",
        '{{"content": "the root password {}"}}',
        "331 Please specify the password.\n--> PASS {}\n",
        "USER bob\r\nPASS {}\r\n",
        "JWT_SECRET={}",
        "app.secret_key = '{}'",
        "encryption_key: '{}'",
        "PASS4_SYMM_KEY={}",
        "ldap_default_authtok = '{}'",
        "session({{ secret: '{}', resave: false }})",
    ],
)
def test_words_that_end_in_figures_are_a_password_where_they_are_called_so(
    made: str, way: str
) -> None:
    secret = made.format(some(3, "23456789"))
    assert secret not in mask(way.format(secret))


def test_one_plain_word_with_figures_is_no_secret_without_quotes() -> None:
    assert mask("secret = velvet1234") == "secret = velvet1234"
    assert mask("secret = 'velvet1234'") == "secret = '[CREDENTIAL_1]'"


@pytest.mark.parametrize(
    "words",
    [
        "the password Policy-12 says so; password SHA-256.",
        "the password PBKDF2-HMAC-SHA512, Base64 or OAuth2.0",
        "password Page_404\npassword sha256\npassword v2023\n",
        "PASS Cart_Checkout_12\nPASS suite2024\n",
        "the password Foo.bar_22 and password foo.Bar",
        "secret: db-credentials-2\nsecret: Kind_Of_Key_12",
        "JWT_SECRET=secret_name_v2",
        "set password Reset-Form-22",
    ],
)
def test_a_name_with_figures_is_no_password(words: str) -> None:
    assert mask(words) is words


TABLES = [
    "username,password,role\nbob,{},admin\n",
    "User name,Access key ID,Secret access key\nci-bot,x,{}",
    "| user | password |\n|---|---|\n| bob | {} |\n",
    "user\tpassword\nann\tx\nbob\t{}\n",
    "service\tapi_key\tenv\nmaps\t{}\tprod\n",
    "name;secret;role\nbob;{};admin\n",
    'user,note,password\nbob,"a, b",{}\n',
    " id | password\n----+----------\n  1 | {}\n(1 row)\n",
    "+----+----------+\n| id | password |\n+----+----------+\n|  1 | {} |\n+----+----------+",
    "│ id │ password │\n├────┼──────────┤\n│  1 │ {} │\n",
    "┃ id ┃ password ┃\n┡━━━━╇━━━━━━━━━━┩\n│  1 │ {} │\n",
    "login  password                                  role\n"
    "-----  ----------------------------------------  ----\nbob    {}  a\n",
    "<tr><th>user</th><th>password</th></tr>\n<tr><td>bob</td><td>{}</td></tr>",
    "<thead>\n<tr>\n<th>env</th>\n<th><b>API key</b></th>\n<th>n</th>\n</tr>\n</thead>\n<tbody>\n"
    '<tr>\n<td></td>\n<td class="a">\n<code>{}</code></td>\n<td>3</td>\n</tr>\n</tbody>',
    "INSERT INTO users (id, password, age)\nVALUES (1, '{}', 4), (2, NULL, 5);",
    "insert ignore into `keys` (`user`,`client_secret`) values ('it''s, b', '{}')",
    "COPY logins (name, token, n) FROM stdin;\nbob\t{}\t3\n\\.\n",
]


@pytest.mark.parametrize("table", TABLES)
def test_a_column_whose_head_says_so_is_secret(table: str) -> None:
    secret = some(40)
    for text in (table.format(secret), json.dumps({"output": table.format(secret)})):
        assert mask(text) == text.replace(secret, "[CREDENTIAL_1]")


def test_a_column_is_secret_where_its_cells_and_its_head_are_quoted() -> None:
    one, two = password(), password()
    text = f'"url","user","password"\n"https://a","bob","{one}"\n"https://b","eve","{two}"\n'
    masked = text.replace(one, "[CREDENTIAL_1]").replace(two, "[CREDENTIAL_2]")
    assert mask(text) == masked


@pytest.mark.parametrize("secret", ["mqW!WpcQbm*z", "MHP!tIDhAg.x", "ugX.WAaqUt*x"])
def test_a_sentences_password_needs_no_digit_where_its_letters_have_no_order(secret: str) -> None:
    for way in ("use the password {} for it", "my password is {}", "usa la contraseña {} para"):
        assert mask(way.format(secret)) == way.format("[CREDENTIAL_1]")


JUMBLES = ["xkqjvmzptw", "qzwvkxbdfg", "KqxzVbWjGh", "mvqkdxzjtb"]


@pytest.mark.parametrize("secret", JUMBLES)
def test_letters_in_no_order_are_a_password_without_a_digit(secret: str) -> None:
    for way in ("password: {}", '"password": "{}"', "password = '{}'", "host,pwd\nweb,{}\n"):
        assert mask(way.format(secret)) == way.format("[CREDENTIAL_1]")
    assert mask(f"the {secret} of the day") == f"the {secret} of the day"


def test_four_groups_of_four_letters_are_an_apps_password() -> None:
    secret = "qzwv kxbd mvqk dxzj"
    assert mask(f"EMAIL_PASS='{secret}'") == "EMAIL_PASS='[CREDENTIAL_1]'"
    assert mask(f"app password: {secret}\nb") == "app password: [CREDENTIAL_1]\nb"
    assert mask("EMAIL_PASS='they were here once'") == "EMAIL_PASS='they were here once'"


def test_a_token_broken_over_many_lines_or_texts_is_masked_to_its_end() -> None:
    token = "ey" + "JhbGciOiJIUzI1NiJ9.ey" + some(280) + "." + some(43)
    lines = [token[at : at + 70] for at in range(0, len(token), 70)]
    for text in ("\n".join(lines), "'\n  '".join(lines), '" + "'.join(lines)):
        assert mask(f"jwt = '{text}'\nnext one") == "jwt = '[CREDENTIAL_1]'\nnext one"


@pytest.mark.parametrize(
    "split",
    [
        "'gh' + 'p_{}' + '{}'",
        '"ghp_" + "{}{}"',
        '"ghp_{}" .. "{}"',
        'x = "ghp_{}" & "{}"',
        "''.join(['ghp_{}', '{}'])",
        "t = 'ghp_{}'\nt += '{}'",
        '"ghp_{}" + `\n  "{}"',
        "see ghp_{}=\n{} there",
    ],
)
def test_a_token_that_code_or_mail_has_split_is_masked_in_both(split: str) -> None:
    parts = some(18) + "1a", some(15) + "2b"
    split = split.replace("'gh' + 'p_", "'ghp_")
    masked = mask(split.format(*parts))
    assert not any(part[-6:] in masked for part in parts)
    listed = 'keys = {"a": "sk' + f'_test_{some(24)}", "retries": 3}}'
    assert '"retries": 3' in mask(listed)


@pytest.mark.parametrize(
    ("code", "secret"),
    [
        ('client_secret = "{}" + "{}"', ("71530314-1aba-4b72", "-b19e-bc53233837e8")),
        ('$db_password = "{}" . "{}";', ("lobst", "er1173")),
        ('PASSWORD = (\n  "{}"\n  "{}"\n)', ("Tig3", "r_903")),
    ],
)
def test_a_value_of_several_literals_is_judged_as_one(code: str, secret: tuple[str, str]) -> None:
    masked = mask(code.format(*secret))
    assert masked == code.format("[CREDENTIAL_1]", "[CREDENTIAL_2]")


@pytest.mark.parametrize(
    "text",
    [
        "I set `API_KEY` to `{}`",
        "The `DB_PASSWORD` is `{}`",
        "set NEXTAUTH_SECRET to {} please",
        "use {} as the password\nok",
        '"use {} as the password"',
        "https://x.example/a?q=X&appid={}",
        "https://x.example/a?sid={}&b=1",
        'passwords = ["{}"]',
        'api_keys = ["{}", "b"]',
        "api_keys:\n  - {}\nnames:\n  - b",
        "define('PUSHER_APP_SECRET', '{}');",
        "routing_key: {}",
        "app.tomtom.key={}",
        "密钥：{}",
        "令牌: {}",
        "API-Schlüssel: {}",
        "clé API : {}",
        "chave de API: {}",
        "chiave_api={}",
        "klucz API: {}",
        "geheime sleutel: {}",
        "ключ API: {}",
        "Токен: {}",
        "APIキー: {}",
        "API 키: {}",
    ],
)
def test_a_secret_is_known_by_its_name_in_other_words_and_places(text: str) -> None:
    secret = some(12) + some(16, HEX) + "3a2" if "routing" not in text else some(32, HEX)
    assert mask(text.format(secret)) == text.format("[CREDENTIAL_1]")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("SILICONFLOW_API_KEY={}", "sk-" + "qzxkvjwpqhfgxbntzkqwjvhxmcpzqkdf" + "wjxvbnhqkzxwvjpq"),
        ('{{"SecretAccessKey": "{}"}}', "/evy/GZFus4YEev5y96P" + "y9kHKVRfYR2erZK5qXZk"),
        ('"password": "{}"', "Sun" + "shine!"),
        ("app_pswd: {}", "Hunter" + "!23"),
        ("Parola d'ordine: {}", "Coffee" + "@66"),
    ],
)
def test_a_value_is_a_secret_though_it_looks_like_words_or_a_path(text: str, secret: str) -> None:
    assert mask(text.format(secret)) == text.format("[CREDENTIAL_1]")


@pytest.mark.parametrize("between", ["'\n    '", "' +\n  '", "'\n  + '", "' . \n '", "' \\\n '"])
def test_a_value_that_code_writes_over_lines_is_masked_to_its_end(between: str) -> None:
    parts = [some(20) for _ in range(3)]
    for text in ("API_KEY = ('{}')\nnext = 'a2'", "const apiKey = '{}';\nnext = 'a2'"):
        masked = mask(text.format(between.join(parts)))
        assert not any(part in masked for part in parts)
        assert masked.endswith("next = 'a2'")


def test_the_tokens_of_a_list_are_each_masked_whole() -> None:
    tokens = [
        "GROQ_API_KEY=" + "gs" + "k_" + some(52),
        "hf" + "_" + some(34, string.ascii_letters),
        "nv" + "api-" + some(64),
        "cs" + "k-" + some(48, string.ascii_lowercase + string.digits),
        "rk" + "_live_" + some(24),
        "SOME_CLIENT_SECRET=" + some(80),
    ]
    said = mask("\n".join(tokens)).split("\n")
    assert len(said) == len(tokens)
    assert not any(token[-12:] in "".join(said) for token in tokens)
    assert said[-1].startswith("SOME_CLIENT_SECRET=[")


def test_what_the_next_line_names_is_no_further_part_of_a_value() -> None:
    text = f'"ProxyPassword"="{password()}"\n"PortNumber"=dword:00000016\n'
    assert mask(text) == '"ProxyPassword"="[CREDENTIAL_1]"\n"PortNumber"=dword:00000016\n'


def test_a_token_without_its_head_is_masked() -> None:
    rest = "ey" + "JzdWIiOi" + some(40) + "." + some(43)
    assert mask(f"...{rest} was sent") == "...[CREDENTIAL_1] was sent"


def test_a_line_within_a_block_of_base64_begins_no_token() -> None:
    text = "\n".join([some(64), "AQE" + some(61), some(64), some(20)])
    assert mask(text) is text


ON_LINES_ABOVE = {
    "output": "$ pass show prod/db\nSECRET",
    "decoded": "$ kubectl get secret db -o jsonpath='{.data.p}' | base64 -d\nSECRET",
    "long form": "-[ RECORD 1 ]\nid    | 1\ntoken | SECRET",
    "psql": " id | password\n----+----------\n  1 | SECRET",
    "csv": "name,password,role\nbob,SECRET,admin",
    "tabs": "user\tpassword\nbob\tSECRET",
    "markdown": "| Env | Password |\n|---|---|\n| a | `SECRET` |",
    "manifest": "        - name: DB_PASSWORD\n          value: SECRET",
    "netrc": "machine a.example\n  login ci\n  password SECRET",
    "plist": "\t<key>Password</key>\n\t<string>SECRET</string>",
    "expect": 'expect "password:"\nsend "SECRET"',
    "dump": '  ["password"]=>\n  string(16) "SECRET"',
    "form": 'Content-Disposition: form-data; name="password"\n\nSECRET',
    "sentence": "Use the following password to go on:\n\nSECRET",
}
BEFORE_LINES = {
    "numbered": "     7→",
    "numbered with tabs": "     7\t",
    "grep": "conf/a-b.txt:12:",
    "added": "+",
    "taken out": "-",
    "quoted": "> ",
    "comment": "# ",
    "slashes": "    // ",
    "grep's context": "12-",
    "log": "2026-02-03T10:11:12.1234567Z ",
    "log with levels": "[2026-02-03 10:11:12,345] INFO shop.db: ",
    "levels": "WARNING - ",
    "log of Python's": "DEBUG:shop.db:",
    "syslog": "Feb  3 10:11:12 web-1 shop[345]: ",
    "box": "│ ",
    "trace": "❱ 12 │   ",
    "container": "api-1  | ",
    "indented": "        ",
}


def assert_masked(text: str) -> None:
    secret = "Xk4b" + some(24)
    assert mask(text.replace("SECRET", secret)) == text.replace("SECRET", "[CREDENTIAL_1]")


@pytest.mark.parametrize("place", ON_LINES_ABOVE)
@pytest.mark.parametrize("before", BEFORE_LINES)
def test_a_secret_that_hangs_on_lines_above_is_masked_whatever_stands_before_each(
    place: str, before: str
) -> None:
    lines = [BEFORE_LINES[before] + line for line in ON_LINES_ABOVE[place].split("\n")]
    assert_masked("\n".join(lines))


@pytest.mark.parametrize("place", ON_LINES_ABOVE)
@pytest.mark.parametrize(
    "form",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: json.dumps({"role": "user", "content": text}),
        lambda text: json.dumps({"a": json.dumps([{"out": text, "err": ""}])}),
        lambda text: repr({"stdout": text, "stderr": ""}),
        lambda text: f"<h1>A &amp; B</h1><pre>{html.escape(text)}</pre>",
    ],
)
def test_a_secret_that_hangs_on_lines_above_ends_with_the_text_that_holds_it(
    place: str, form: Callable[[str], str]
) -> None:
    assert_masked(form(ON_LINES_ABOVE[place]))


@pytest.mark.parametrize(
    "line",
    [
        "-curl -u ci:{} https://a.example",
        "-mysql -u root -p{} shop",
        "-redis-cli -a {} ping",
        "12-redis-cli -a {} ping",
        "conf/a-b.sh-12-mysql -u root -p{} shop",
        "-password is {}",
        "+pw: {}",
        "     7→[smtp.example]:587 bob:{}",
        "+db.example:5432:shop:app:{}",
        '{{"content":"a1 LOGIN bob {}"}}',
    ],
)
def test_a_secret_on_a_line_of_a_diff_or_a_text_is_masked(line: str) -> None:
    assert mask(line.format(secret := password())) == line.format("[CREDENTIAL_1]")
    assert secret not in mask(json.dumps(f"a\n{line.format(secret)}\nb"))


@pytest.mark.parametrize("before", BEFORE_LINES.values())
def test_lines_of_words_with_something_before_them_stay(before: str) -> None:
    for words in (
        "$ pass show prod/db\nError: prod/db is not in the password store.",
        "name,password,role\nbob,optional,admin",
        "password:\n  required: true",
        "Recovery codes\n==============\nThey are shown once",
    ):
        text = "\n".join(before + line for line in words.split("\n"))
        assert mask(text) is text


def test_a_box_around_lines_is_no_part_of_a_secret() -> None:
    lines = ["name,password", "bob,SECRET", "ann,-", "$ htpasswd -nbB eve SECRET"]
    assert_masked("\n".join(f"│ {line:60} │" for line in lines))


def test_a_margin_within_a_secret_stays() -> None:
    body = [some(64) for _ in range(4)]
    key = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]
    masked = mask("\n".join(f"a/b.pem:{n}:{line}" for n, line in enumerate(key, 1)))
    assert masked.count("a/b.pem:") == 6
    assert not any(line in masked for line in body)


@pytest.mark.parametrize("path", ["reset-password", "invite", "magic-link", "password/reset"])
def test_the_token_of_a_link_is_masked(path: str) -> None:
    secret = some(36)
    assert mask(f"https://x.example/{path}/{secret} now").endswith(f"/{path}/[CREDENTIAL_1] now")
    page = f"app/{path}/TheFormOfThePageForANewPassword2.tsx"
    assert mask(page) is page


@pytest.mark.parametrize(
    "command",
    [
        "openssl rand -hex 32",
        "pass show prod/db",
        "chamber read shop db_password -q",
        "op read op://Private/db/password",
        "kubectl get secret db -o jsonpath='{.data.password}' | base64 -d",
        "echo $DB_PASSWORD",
        "python -c 'import secrets; print(secrets.token_hex(16))'",
        "head -c 24 /dev/urandom | base64",
        "docker exec db printenv POSTGRES_PASSWORD",
        "heroku config:get SECRET_KEY_BASE -a shop",
        "terraform output -raw db_password",
        "pulumi stack output dbPassword --show-secrets",
        "gcloud secrets versions access latest --secret=db",
        "az keyvault secret show --vault-name v --name db --query value -o tsv",
        "aws secretsmanager get-secret-value --secret-id x --query SecretString --output text",
        "aws ssm get-parameter --name /x --with-decryption --output text",
        "vault kv get -field=password secret/shop",
        "doppler secrets get DB_PASS --plain",
        "bin/rails secret",
        "php artisan key:generate --show",
        "cat config/master.key",
        "cat /var/lib/jenkins/secrets/initialAdminPassword",
        "cat ~/.vault-token",
        "head -1 password.txt",
        "cat auth.txt\nops",
        "wg genkey",
        "wg genkey | tee private.key",
        "openssl rand -hex 32 | sudo tee /etc/zabbix/psk",
        "aws ecr get-login-password --region eu-west-1",
        "az acr credential show -n shop --query 'passwords[0].value' -o tsv",
        "az storage account keys list -n shop --query '[0].value' --output tsv",
        "op item get db --fields password --reveal",
        "bw get password db",
        "gopass show -o prod/db",
        "keyring get system ops",
        "secret-tool lookup service db",
        "yq .db.password values.yaml",
        "jq -r .password creds.json",
        "curl -s https://x.example/t | jq -r '.access_token'",
        "grep DB_PASS .env | cut -d= -f2",
        "es\nPassword for the [elastic] user reset.\nNew value: ",
        "hashcat --show h.txt\nb6aecdd17a9c06f42a378abb218e0a73:",
        "kubectl -n kube-system create token admin",
        "consul keygen",
        "security find-internet-password -s x.example -w",
        "wg show wg0 private-key",
        "nmcli -s -g 802-11-wireless-security.psk connection show Office",
        "cat /var/lib/rabbitmq/.erlang.cookie",
        "cat /etc/wireguard/privatekey",
    ],
)
def test_what_such_a_command_prints_is_secret(command: str) -> None:
    secret = some(32)
    command += "" if command.endswith((": ", ":")) else "\n"
    assert mask(f"$ {command}{secret}\n$") == f"$ {command}[CREDENTIAL_1]\n$"
    if command.endswith("\n"):
        assert mask(f"$ {command}{secret} more\n$").endswith(f"{secret} more\n$")


@pytest.mark.parametrize(
    "said",
    [
        "$ cat /etc/passwd\nroot:x:0:0:root:/root:/bin/bash\n",
        "$ cat src/token\nfrom os import path\n",
        "$ cat id_ed25519.key\nThe-Key-2024-of-Nobody\n",
        "$ jq '.tokens' usage.json\n15214\n",
        "$ grep -rn API_KEY src | cut -d: -f1\nsrc/settings.py\n",
        "$ grep MAX_TOKENS .env | cut -d= -f2\n4096\n",
        "$ az aks list --query '[].keyVault' -o tsv\nshop-production-1\n",
        "$ kubectl create token --help\nRequest a service account token.\n",
    ],
)
def test_what_a_command_prints_is_no_secret_where_it_does_not_look_so(said: str) -> None:
    assert mask(said) is said


@pytest.mark.parametrize(
    "text",
    [
        "S: 334 UGFzc3dvcmQ6\nC: {}\nS: 235 ok",
        "AUTH PLAIN {}\n235 ok",
        "<auth xmlns='x' mechanism='PLAIN'>{}</auth>",
        "ffmpeg -i a.mp4 -f flv rtmp://a.example/live2/{}",
        "Use the following password to go on:\n\n{}\n\nIt is",
        "Aws::Credentials.new('AKIA" + "IOSFODNN7EXAMPLE', '{}')",
        "RestClient('MA1', '{}')",
        "statsig.initialize('{}')",
        "Fernet('{}')",
        "vault operator unseal {}",
        "cypress run --record --key {}",
        "bash <(curl -s https://codecov.io/bash) -t {}",
        "wg set wg0 private-key <(echo {})",
        "nsupdate -y hmac-sha256:ddns:{} < u.txt",
        'proxy_set_header Authorization "Basic {}";',
        "set passwd ENC {}",
        "tacacs server T1\n key 7 {}",
        'api:\n  encryption:\n    key: "{}"',
        '[{{"keyName": "key1", "permissions": "FULL", "value": "{}"}}]',
        '{{"name": "Cookie", "value": "sid={}"}}',
        'tweepy.OAuthHandler("Qutf", "{}")',
        'pyotp.TOTP("{}").now()',
        'bitcoin-cli importprivkey "{}"',
        "dumpprivkey 1A1z\n{}",
        "Administrator:500:" + "aad3b435b51404ef" * 2 + ":{}:::",
        "<RSAKeyValue><Exponent>AQAB</Exponent><P>{}</P></RSAKeyValue>",
    ],
)
def test_a_token_is_known_by_what_asks_for_it(text: str) -> None:
    secret = "secret" + "-" + some(43) if "statsig" in text else some(32)
    assert mask(text.format(secret)) == text.format("[CREDENTIAL_1]")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('curl -u "editor:{}" https://x.example', "S8y1 Exnc HAo9 E9mk pmHQ vPSt"),
        ("Can't scan? Enter this setup key: {}", "NHN5 JPEN X4CB UADT IZXJ GITH XHBL R4OZ"),
        ("keypair: {}", str([(7 * n * n + 13) % 256 for n in range(64)])),
        ('w3.eth.account.from_key("0x{}")', "68501a73e600fb19" * 4),
        (
            "username a secret 9 {}",
            "$9$" + "aTNXeF5ZgZya3Y" + "$" + "mzYvwDGpYsu" * 3 + "Z9Wzlp8FRl",
        ),
        ('- "basicauth.users=ops:{}"', "$$apr1$$" + "4XVjU7wO" + "$$" + "9QGnPFNngS4L7Qv7bXerTV"),
        ("altool --upload-app -f a.ipa -u b -p {}", "mfap-ivug" + "-qojz-svut"),
        ("Secret ID    = {}", "549265e8-3cca-41ca" + "-8ce8-f0b4746f34a9"),
    ],
)
def test_a_secret_of_its_own_form_is_masked_whole(text: str, secret: str) -> None:
    assert mask(text.format(secret)) == text.format("[CREDENTIAL_1]")


@pytest.mark.parametrize("way", ["accounts: ['0x{}']", "new ethers.Wallet('{}', p)"])
def test_the_key_of_a_wallet_is_masked_and_an_address_stays(way: str) -> None:
    assert mask(way.format(some(64, HEX))) == way.format("[CREDENTIAL_1]")
    address = way.format(some(40, HEX))
    assert mask(address) is address


@pytest.mark.parametrize("name", ["VAULT_SECRET_ID=", "SecretID:         ", '"secret_id": "'])
def test_the_id_that_is_a_secret_is_masked_where_it_is_a_uuid(name: str) -> None:
    secret = "-".join(some(length, HEX) for length in (8, 4, 4, 4, 12))
    assert mask(name + secret) == name + "[CREDENTIAL_1]"
    assert mask(name + "shop-db-1") == name + "shop-db-1"


@pytest.mark.parametrize("kind", ["Recovery", "Backup", "scratch"])
def test_codes_below_each_other_are_masked_where_they_are_called_so(kind: str) -> None:
    codes = [f"{some(4)}7-{some(5)}" for _ in range(3)]
    text = f"{kind} codes (keep them):\n\n  " + "\n  ".join(codes) + "\n\nDone: all is well"
    masked = mask(text)
    assert not any(code in masked for code in codes)
    assert masked.endswith("\n\nDone: all is well")
    words = f"{kind} codes:\nnone were left\nread the page again\n"
    assert mask(words) is words


@pytest.mark.parametrize("secret", ["kQ7&vB2=nR9", "$uper4Tiger!x", "*Star2024*", "&Amp2024!"])
def test_a_password_may_hold_the_signs_of_code(secret: str) -> None:
    assert mask(f"DB_PASSWORD={secret}\nA=1") == "DB_PASSWORD=[CREDENTIAL_1]\nA=1"
    if "=" not in secret:
        assert secret[1:] not in mask(f"password: {secret}")


ON_DEVICES = [
    "snmp-server community {} RO 10",
    "rocommunity {} 10.9.0.0/16",
    "crypto isakmp key {} address 192.0.2.7",
    " ip ospf message-digest-key 1 md5 {}",
    "ntp authentication-key 7 md5 {}",
    " standby 1 authentication {}",
    "    set psksecret ENC {}",
    '192.0.2.7 : PSK "{}"',
    'visitor : EAP "{}"',
    ': RSA server.pem "{}"',
    "createUser ops SHA {}",
    "com2sec readonly default {}",
    'snmp_community: "{}"',
    "snmp-server user ops grp v3 auth sha {} access 5",
]


@pytest.mark.parametrize("way", ON_DEVICES)
def test_what_a_network_device_is_told_is_masked(way: str) -> None:
    assert mask(way.format(password())) == way.format("[CREDENTIAL_1]")


@pytest.mark.parametrize(
    ("way", "secret"),
    [
        ("Numerical Password:\n  ID: x\n  Password:\n    {}\n", "-".join(["314159"] * 8)),
        ("Recovery Key: {}", "-".join(["271828"] * 8)),
        ("root:500:" + "aad3b435b51404ee" * 2 + ":{}:::", "8846f7eaee8fb117" + "ad06bdd830b7586c"),
        ("  * NTLM     : {}", "8846f7eaee8fb117" + "ad06bdd830b7586c"),
        ("curl -d code_verifier={}", "dBjftJeZ4CVP" + "mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        ("x@X.EXAMPLE (aes128-cts-hmac-sha1-96)  (0x{})", "8846f7eaee8fb117" + "ad06bdd830b7586c"),
        ("| root | localhost | *{} |", "8846F7EAEE8FB117" + "AD06BDD830B7586C" + "1A2B3C4D"),
        ('"app" "md5{}"', "8846f7eaee8fb117" + "ad06bdd830b7586c"),
        ("user app on #{} ~*", "8846f7eaee8fb117" + "ad06bdd830b7586c" * 3),
        ('{{"secondaryKey": "{}"}}', "Zk3xQ9b7LwT8" + "eyqUyEU51Bc8wXa2Kf9tR4mNq7Ls1Vd" + "="),
        ("Product Key: {}", "XK4PT" + "-9QW3R-7BNMC-2HFGD-V6Y8J"),
        ("'key' => '{}'", "29jP76MwItEooh9e" + "S9Sfc7jwOlJKOSLj"),
        ("or enter this code: {}", "otya 3ozy " + "zoic nltw juwu myu2 7qqd qhlz"),
    ],
)
def test_a_key_that_opens_a_disk_an_account_or_a_login_is_masked(way: str, secret: str) -> None:
    assert mask(way.format(secret)) == way.format("[CREDENTIAL_1]")


@pytest.mark.parametrize(
    "before",
    [
        "Save this seed phrase now:\n",
        "**Write** this mnemonic phrase down.\nIt is all you have.\n\n",
    ],
)
def test_the_words_of_a_wallet_are_masked_below_what_names_them(before: str) -> None:
    phrase = "lamp river " * 6
    assert mask(f"{before}{phrase.strip()}\n====") == f"{before}[CREDENTIAL_1]\n===="


@pytest.mark.parametrize("way", WAYS)
def test_a_password_is_masked_in_whatever_way_it_is_said(way: str) -> None:
    secret = password()
    assert mask(way.format(secret)) == way.format("[CREDENTIAL_1]")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_comes_back_as_the_same_object(text: str) -> None:
    assert mask(text) is text


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: Bearer {}",
        "authorization: token {}",
        "X-Api-Key: {}",
        "Cookie: theme=dark; sessionid={}; lang=en",
        "Set-Cookie: sid={}; Path=/; HttpOnly",
        "https://x.example/a?sig={}&b=1",
        "https://ci:{}@git.example.net/x.git",
        "NEXTAUTH_SECRET={}",
        "the api key is {}",
        "acme deploy --token={} --env prod",
    ],
)
def test_an_opaque_value_is_masked_where_its_place_says_what_it_is(header: str) -> None:
    secret = some(40)
    masked = mask(header.format(secret))
    assert secret not in masked
    for word in header.split("{}"):
        assert word in masked


@pytest.mark.parametrize("form", ["plain", "escaped", "cut tail", "cut head", "numbered"])
def test_a_private_key_is_masked_whole_and_in_part(form: str) -> None:
    head, tail = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
    lines = [some(64) for _ in range(8)]
    key = "\n".join([head, *lines, tail])
    text = {
        "plain": f"$ cat k\n{key}\n$ ls ~",
        "escaped": json.dumps({"private_key": key, "after": "ls ~"}),
        "cut tail": "\n".join(["$ cat k", head, *lines]),
        "cut head": "\n".join([*lines, tail, "$ ls ~"]),
        "numbered": "\n".join(f"{n:6}\t{line}" for n, line in enumerate(key.split("\n"), 1)),
    }[form]
    masked = mask(text)
    assert not any(line in masked for line in lines)
    assert ("ls ~" in masked) is ("ls ~" in text)  # no letters that a key may hold


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Token token={}", "Authorization: Token token="),
        ("travis encrypt SECRET_TOKEN={}", "travis encrypt SECRET_TOKEN="),
        ('Authorization: OAuth oauth_token="{}", realm="x"', 'OAuth oauth_token="'),
        ("Authorization: AWS4-HMAC-SHA256 Signature={}", "AWS4-HMAC-SHA256 Signature="),
        ('Authorization: Digest username="a", response="{}"', 'Digest username="a"'),
        ("https://x-access-token:{}@github.com/acme/repo.git", "@github.com/acme/repo.git"),
        ("curl --cookie session={} https://x.example", "--cookie session="),
        ("https://eth-mainnet.g.alchemy.com/v2/{}", "g.alchemy.com/v2/"),
        ("https://mainnet.infura.io/v3/{}", "infura.io/v3/"),
        ("otpauth://totp/Acme:bob?secret={}&issuer=Acme", "&issuer=Acme"),
        ("$ cat ~/.git-credentials\nhttps://ci:{}@git.acme.dev", "https://ci:"),
        ("jdbc:sqlserver://db:1433;user=sa;password={}@33;x=1", "//db:1433;user=sa;password="),
        ("SENTRY_DSN=https://{}@o33.ingest.sentry.io/8324912", "@o33.ingest.sentry.io/8324912"),
        ('KEY="-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----"', "BEGIN PRIVATE KEY"),
    ],
)
def test_a_header_or_an_address_keeps_what_is_no_secret_in_it(text: str, kept: str) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" if "otpauth" in text else HEX
    secret = some(32, letters)
    masked = mask(text.format(secret))
    assert secret not in masked
    assert kept in masked


@pytest.mark.parametrize(
    "hashed",
    [
        lambda: "$1" + "$" + some(8) + "$" + some(22),
        lambda: "{SS" + "HA}" + some(40),
        lambda: "pbkdf2_" + "sha256$600000$" + some(22) + "$" + some(43) + "=",
        lambda: "scrypt:" + "32768:8:1$" + some(16) + "$" + some(128, HEX),
        lambda: "SCRAM-" + "SHA-256$4096:" + some(22) + "==$" + some(43) + "=:" + some(43) + "=",
        lambda: "$P" + "$" + some(31),
        lambda: "{SH" + "A}" + some(27) + "=",
        lambda: "$7" + "$101$" + some(16) + "$" + some(86) + "==",
    ],
)
def test_the_hash_of_a_password_is_masked(hashed: Callable[[], str]) -> None:
    text = hashed()
    assert mask(f"bob {text} x") == "bob [CREDENTIAL_1] x"


@pytest.mark.parametrize("length", [1200, 9000])
@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "Authorization: Basic {}",
        "see ey" + "JhbGciOiJSUzI1NiJ9.eyJ{}",
        "AWS_SESSION_TOKEN={}",
        '{{"access_token": "{}", "x": 1}}',
        "Cookie: theme=dark; session={}; lang=en",
        "https://a.example/b?access_token={}&c=1",
        '<input name="token" value="{}"/>',
        "<token>{}</token>",
        "acme deploy --token {} --now",
    ],
)
def test_a_secret_is_masked_to_its_end_however_long_it_is(text: str, length: int) -> None:
    secret = some(length)
    masked = mask(text.format(secret))
    assert not any(secret[at : at + 12] in masked for at in range(length - 11))
    assert masked.endswith(text.partition("{}")[2].replace("}}", "}"))


DER = [
    bytes.fromhex("308204bd020100300d06092a864886f70d0101010500048204a7"),
    bytes.fromhex("308204a40201000282010100"),
    bytes.fromhex("3077020101042011"),
    bytes.fromhex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d"),
    bytes.fromhex("302e020100300506032b657004220420"),
    bytes.fromhex("3082051c304e06092a864886f70d01050d3041"),
]
"""How private keys begin; their second number is their length."""


@pytest.mark.parametrize("head", DER)
@pytest.mark.parametrize("width", [76, 10000])
def test_a_private_key_is_known_and_ends_without_its_armour(head: bytes, width: int) -> None:
    size = {0x82: 4 + int.from_bytes(head[2:4]), 0x81: 3 + head[2]}.get(head[1], 2 + head[1])
    key = base64.b64encode(head + dice.randbytes(size - len(head))).decode()
    lines = [key[at : at + width] for at in range(0, len(key), width)]
    masked = mask("\n".join(["der:", *lines, "bytesOfTheNextThing"]))
    assert not any(line in masked for line in lines)
    assert masked.startswith("der:\n[CREDENTIAL_1]")
    assert masked.endswith("\nbytesOfTheNextThing")


def test_the_figures_of_a_private_key_are_masked_and_those_of_the_public_one_stay() -> None:
    def figures() -> str:
        lines = (":".join(some(2, HEX) for _ in range(15)) for _ in range(8))
        return "".join(f"    {line}:\n" for line in lines)

    modulus, exponent = figures(), figures()
    text = f"modulus:\n{modulus}privateExponent:\n{exponent}prime1: (below)\n"
    assert (
        mask(text) == f"modulus:\n{modulus}privateExponent:\n    [CREDENTIAL_1]\nprime1: (below)\n"
    )


@pytest.mark.parametrize("form", [json.dumps, repr, lambda key: f"{{kty: 'EC', d: '{key['d']}'}}"])
def test_the_private_members_of_a_web_key_are_masked(form: Callable[[dict[str, str]], str]) -> None:
    key = {"kty": "EC", "crv": "P-256", "x": some(43), "d": some(43)}
    assert mask(form(key)) == form(key).replace(key["d"], "[CREDENTIAL_1]")


@pytest.mark.parametrize("form", [" ".join, "".join, "<br>".join, json.dumps])
def test_a_private_key_that_is_sealed_is_masked_behind_its_headers(
    form: Callable[[list[str]], str],
) -> None:
    body = [some(64), some(64), some(10) + "=="]
    sealed = ["Proc-Type: 4,ENCRYPTED", f"DEK-Info: AES-128-CBC,{some(32, '0123456789ABCDEF')}", ""]
    tail = "-----END RSA PRIVATE KEY-----"
    masked = mask(form(["-----BEGIN RSA PRIVATE KEY-----", *sealed, *body, tail]))
    assert not any(line in masked for line in body)
    assert "AES-128-CBC," in masked
    assert tail in masked


IN_LINES = {
    "deleted": "-{}",
    "searched": "id_rsa:7:{}",
    "logged": "web_1  | {}",
    "at a time": "2026-01-01T00:00:00Z {}",
    "blamed": "1a2b3c4d (Bob 2024-01-01 10:00:00 +0100 7) {}",
    "echoed": 'echo "{}" >> k',
    "listed": "- {}",
    "in a page": "{}<br>",
    "in a box": "│ {} │",
}


@pytest.mark.parametrize("has_head", [True, False])
@pytest.mark.parametrize("form", IN_LINES)
def test_a_private_key_is_masked_where_its_lines_have_something_before_them(
    form: str, has_head: bool
) -> None:
    body = [some(64), some(64), some(64), some(20) + "=="]
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----"] if has_head else []
    lines += [*body, "-----END OPENSSH PRIVATE KEY-----"]
    text = "\n".join(["before it", *map(IN_LINES[form].format, lines), "behind it"])
    masked = mask(text)
    assert not any(one in masked for one in body)
    assert masked.startswith("before it\n")
    assert masked.endswith("PRIVATE KEY-----" + IN_LINES[form].partition("{}")[2] + "\nbehind it")


@pytest.mark.parametrize("form", [form for form in IN_LINES if form.endswith("ed")])
def test_a_private_key_that_was_cut_is_masked_where_its_lines_have_something_before_them(
    form: str,
) -> None:
    body = [some(64), some(64), some(64)]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "", *body]
    masked = mask("\n".join([*map(IN_LINES[form].format, lines), "behind it"]))
    assert not any(one in masked for one in body)
    assert masked.endswith("\nbehind it")


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("width", [64, 76])
def test_a_private_key_in_wrapped_base64_is_masked_whole(width: int, indent: str) -> None:
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *(some(64) for _ in range(6))])
    whole = base64.b64encode(f"{key}\n-----END PRIVATE KEY-----\n".encode()).decode()
    lines = [whole[at : at + width] for at in range(0, len(whole), width)]
    text = "key: |\n" + "".join(f"{indent}{line}\n" for line in lines) + "kind: Secret\n"
    masked = mask(text)
    assert not any(line in masked for line in lines)
    assert masked.startswith("key: |\n")
    assert masked.endswith("kind: Secret\n")


def test_base64_ends_with_its_signs() -> None:
    line = base64.b64encode(b"password=" + some(31).encode()).decode()
    assert line.endswith("==")
    assert mask(f"{line}\n{'QUJD' * 14}\n") == f"[CREDENTIAL_1]\n{'QUJD' * 14}\n"


def test_a_line_of_a_key_that_is_known_is_masked_where_it_stands_alone() -> None:
    lines = [some(64) for _ in range(5)]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    for line in lines:
        masker = Masker()
        masker.learn(key)
        masker.seal()
        assert masker.mask(f"body: {line} and more") == "body: [CREDENTIAL_1] and more"


def test_prose_between_the_words_of_a_key_stays() -> None:
    text = (
        "-----BEGIN PRIVATE KEY-----\nthe key in /etc/ssl/private/shop\n-----END PRIVATE KEY-----"
    )
    assert "/etc/ssl/private/shop" in mask(text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("10.34.56.7 api.zylo.internal api", "[INTERNAL_URL_1] [INTERNAL_URL_2] api"),
        ('["10.34.56.9", "10.34.56.19"]', '["[INTERNAL_URL_1]", "[INTERNAL_URL_2]"]'),
        ("hosts:\n  - 10.34.56.10\n", "hosts:\n  - [INTERNAL_URL_1]\n"),
        (
            "10.34.56.11 - - [10/Oct/2000:13:55:36] GET",
            "[INTERNAL_URL_1] - - [10/Oct/2000:13:55:36] GET",
        ),
        (" 1  10.34.56.13 (10.34.56.13)", " 1  [INTERNAL_URL_1] ([INTERNAL_URL_1])"),
        ("to jürgen.müller@zylotech.de now", "to [EMAIL_1] now"),
        ("to hans@müller-söhne.de now", "to [EMAIL_1] now"),
        ("邮箱foo.bar@zylotech.de", "邮箱[EMAIL_1]"),
        ("in a, 10.16.2.6, b", "in a, 10.16.2.6, b"),
        ("version 10.4.5.6 is out", "version 10.4.5.6 is out"),
    ],
)
def test_addresses_are_known_by_what_stands_around_them(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_a_certificate_is_no_secret() -> None:
    text = "\n".join(["-----BEGIN CERTIFICATE-----", some(64), some(64)])
    assert mask(text) is text


def test_the_secret_beside_the_id_of_a_key_is_masked() -> None:
    for between in (" ", ",", "\t2026-01-02T03:04:05+00:00\t"):
        key, secret = TOKENS["aws"](), some(40, ALNUM + "+/")
        assert secret not in mask(f"{key}{between}{secret}\n")
        listed = f"{key}\tActive\t2026-01-02T03:04:05+00:00\tops"
        assert mask(listed) == listed.replace(key, "[CREDENTIAL_1]")


def test_every_value_of_a_secret_on_one_line_is_masked() -> None:
    pair = some(24), some(40)
    text = f'{{"data":{{"a.crt":"{pair[0]}","b":"{pair[1]}"}},"kind":"Secret","x":"{"Kept" * 9}"}}'
    masked = mask(text)
    assert not any(value in masked for value in pair)
    assert masked.endswith(f'"kind":"Secret","x":"{"Kept" * 9}"}}')


def test_the_values_of_a_kubernetes_secret_are_masked_wherever_its_kind_stands() -> None:
    value = base64.b64encode(some(18).encode()).decode()
    for text in (
        f"kind: Secret\nmetadata:\n  name: a\ndata:\n  creds: {value}\n",
        f"apiVersion: v1\ndata:\n  creds: {value}\nkind: Secret\n",
    ):
        masked = mask(text)
        assert value not in masked
        assert "kind: Secret" in masked


@pytest.mark.parametrize("vendor", ["github", "anthropic"])
def test_a_token_is_found_in_the_escapes_of_markdown(vendor: str) -> None:
    token = re.sub(r"[-_]", r"\\\g<0>", TOKENS[vendor]())
    assert mask(f"the key {token} has expired") == "the key [CREDENTIAL_1] has expired"


def encodings(secret: str) -> dict[str, str]:
    raw = secret.encode()
    return {
        "bare": secret,
        "json": json.dumps(secret),
        "json twice": json.dumps(json.dumps(secret)),
        "percent": urllib.parse.quote(secret, safe=""),
        "percent in part": urllib.parse.quote(secret, safe="/&"),
        "html": html.escape(secret),
        "html by numbers": re.sub(r"[\"<&]", lambda one: f"&#{ord(one[0])};", secret),
        "json of Go": json.dumps(secret).replace("<", "\\u003c").replace("&", "\\u0026"),
        "json of Go, twice": json.dumps(
            json.dumps(secret).replace("<", "\\u003C").replace("&", "\\u0026")
        ),
        "hex escapes": re.sub(r"[\"<&]", lambda one: f"\\x{ord(one[0]):02x}", secret),
        "html by letters": secret.replace("/", "&#x2F;").replace("<", "&#60;"),
        "percent twice": urllib.parse.quote(urllib.parse.quote(secret, safe=""), safe=""),
        "a quote twice": secret.replace('"', '""'),
        "wide": base64.b64encode(secret.encode("utf-16-le")).decode(),
        "cmd": re.sub(r"[<&]", r"^\g<0>", secret),
        "a shell's word": re.sub(r"[\"<&]", r"\\\g<0>", secret),
        "base64": base64.b64encode(raw).decode(),
        "base64 after one": base64.b64encode(b"x" + raw).decode(),
        "base64 after two": base64.b64encode(b"xy" + raw + b"z").decode(),
        "hex": raw.hex(),
        "first half": secret[: max(16, len(secret) * 2 // 3)],
        "second half": secret[-max(14, len(secret) // 2) :],
    }


@pytest.mark.parametrize("form", encodings("x" * 30))
def test_a_known_value_is_masked_in_every_form_in_other_texts(form: str) -> None:
    for _ in range(20):
        _is_masked_elsewhere(form, some(12) + '"<&/' + some(14))


@pytest.mark.parametrize(
    "written",
    [
        lambda one: one.replace("+", "\\u002B"),
        lambda one: one.replace("+", "&#43;").replace("=", "&#x3D;"),
        lambda one: one.replace("+", "-").replace("/", "_"),
        lambda one: one.replace("+", " "),
        lambda one: urllib.parse.quote(one).replace("%2B", "+"),
    ],
)
def test_a_known_key_in_base64_is_masked_however_its_signs_are_written(
    written: Callable[[str], str],
) -> None:
    secret = f"{some(14)}+{some(9)}/{some(12)}+{some(6)}/{some(3)}="
    masker = Masker()
    masker.learn(f"AWS_SECRET_ACCESS_KEY={secret}")
    masker.seal()
    masked = masker.mask(f"x {written(secret)} y")
    assert masked.startswith("x [CREDENTIAL_1]")
    assert len(masked) < 30


@pytest.mark.parametrize("written", ["'\\''", "'\"'\"'", "''"])
def test_a_known_password_with_a_quote_is_masked_however_it_is_quoted(written: str) -> None:
    secret = some(8) + "'" + some(9)
    masker = Masker()
    masker.learn(json.dumps({"password": secret}))
    masker.seal()
    assert masker.mask(f"+ PW {secret.replace(chr(39), written)} y") == "+ PW [CREDENTIAL_1] y"


def _is_masked_elsewhere(form: str, secret: str) -> None:
    other = f"something else: {encodings(secret)[form]} and more"
    masker = Masker()
    masker.learn(f"DB_PASSWORD={json.dumps(secret)}")
    masker.learn(other)
    masker.seal()
    masked = masker.mask(other)
    assert "[CREDENTIAL_1]" in masked
    assert masked.startswith("something else: ")
    assert masked.endswith(" and more")
    core = encodings(secret)[form]
    assert core not in masked


@pytest.mark.parametrize("width", [64, 76])
@pytest.mark.parametrize("before", range(30, 60, 3))
def test_a_known_value_is_masked_in_base64_that_is_wrapped(width: int, before: int) -> None:
    secret = some(30)
    text = f"A={some(before)}\nTOKEN={secret}\nB={some(40)}\n"
    whole = base64.b64encode(text.encode()).decode()
    wrapped = "\n".join(whole[at : at + width] for at in range(0, len(whole), width))
    masker = Masker()
    masker.learn(f"TOKEN={secret}")
    masker.seal()
    masked = masker.mask(wrapped)
    assert "[CREDENTIAL_1]" in masked
    first = text.index(secret) * 4 // 3
    assert whole[first + 4 : first + 32] not in masked.replace("\n", "")


@pytest.mark.parametrize("written", ["$$", r"\$"])
def test_a_sign_that_is_doubled_or_quoted_hides_no_rest(written: str) -> None:
    secret = some(8) + "$" + some(9)
    masker = Masker()
    masker.learn(f"DB_PASSWORD='{secret}'")
    masker.seal()
    assert masker.mask(f"sed x{secret.replace('$', written)}x") == "sed x[CREDENTIAL_1]x"


@pytest.mark.parametrize("prefix", ["", "sk-ant-api03-", "ghp_", "xoxb-", "dvwQYFKRfazD6-6x"])
@pytest.mark.parametrize("shown", [12, 13, 17])
def test_twelve_letters_behind_a_vendors_prefix_are_known(prefix: str, shown: int) -> None:
    token = prefix + some(6) + "-" + some(24)
    masker = Masker()
    masker.learn(f"API_TOKEN={token}")
    masker.seal()
    assert masker.mask(f"it was {token[: len(prefix) + shown]}...") == "it was [CREDENTIAL_1]..."


@pytest.mark.parametrize("form", ["TOKEN={}", "Authorization: Bearer {}", '{{"token": "{}"}}'])
def test_a_jumble_behind_a_word_and_a_sign_is_a_token(form: str) -> None:
    assert mask(form.format("zyx_qZPGiSNXkQG3")) == form.format("[CREDENTIAL_1]")
    harmless = form.format("AccessToken_JSONParser")
    assert mask(harmless) is harmless


def test_a_short_or_common_value_does_not_spread() -> None:
    masker = Masker()
    masker.learn("DB_PASSWORD=abc12")
    masker.learn("/home/mark/x")
    masker.seal()
    text = "step abc12 and a mark on the wall"
    assert masker.mask(text) is text


def test_equal_values_have_equal_numbers_in_the_order_of_the_output() -> None:
    one, two = TOKENS["github"](), TOKENS["gitlab"]()
    texts = [f"first {two}", f"then {one} and {two}", f"again {one}"]
    masker = Masker()
    for text in reversed(texts):
        masker.learn(text)
    masker.seal()
    assert [masker.mask(text) for text in texts] == [
        "first [CREDENTIAL_1]",
        "then [CREDENTIAL_2] and [CREDENTIAL_1]",
        "again [CREDENTIAL_2]",
    ]
    assert masker.counts == {"CREDENTIAL": 4}


def test_numbers_start_above_those_that_stand_in_the_input() -> None:
    masked = mask(f"[CREDENTIAL_7] and {TOKENS['github']()}")
    assert masked == "[CREDENTIAL_7] and [CREDENTIAL_8]"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("/home/jvermeer/app/main.py", "/home/[USER_1]/app/main.py"),
        ("cwd: /Users/jvermeer/code", "cwd: /Users/[USER_1]/code"),
        ("C:\\Users\\jvermeer\\x.log", "C:\\Users\\[USER_1]\\x.log"),
        ("C:\\\\Users\\\\jvermeer\\\\x.log", "C:\\\\Users\\\\[USER_1]\\\\x.log"),
        ("C:\\Users\\91733\\x.log, 91733 bytes", "C:\\Users\\[USER_1]\\x.log, 91733 bytes"),
        ("/c/Users/4vermeer/x.log", "/c/Users/[USER_1]/x.log"),
        ("/var/home/4vermeer/x.log", "/var/home/[USER_1]/x.log"),
        ("~/.claude/projects/-Users-jvermeer-code/s", "~/.claude/projects/-Users-[USER_1]-code/s"),
        ("vscode://file/Users%2Fjvermeer%2Fcode", "vscode://file/Users%2F[USER_1]%2Fcode"),
        ("jvermeer@devbox-7:~/src$ ls", "[USER_1]@[INTERNAL_URL_1]:~/src$ ls"),
        (
            "-rw-r--r--  1 jvermeer staff  4096 Jun 10 10:00 a",
            "-rw-r--r--  1 [USER_1] staff  4096 Jun 10 10:00 a",
        ),
        ("$ whoami\njvermeer\n$", "$ whoami\n[USER_1]\n$"),
        ("uid=1000(jvermeer) gid=1", "uid=1000([USER_1]) gid=1"),
        ("ssh jvermeer@db-7.delftware.corp", "ssh [USER_1]@[INTERNAL_URL_1]"),
        (
            "{'displayName': 'Jo Vermeer', 'accountId': 'x'}",
            "{'displayName': '[PERSON_1]', 'accountId': 'x'}",
        ),
        ('"assignee": "Jo O\'Brien"', '"assignee": "[PERSON_1]"'),
        ("see j.vermeer@delftware.com, thanks", "see [EMAIL_1], thanks"),
        ("Author: Jo Vermeer <jo@delftware.com>", "Author: [PERSON_1] <[EMAIL_1]>"),
        ("https://jira.delftware.corp/browse/A-1", "https://[INTERNAL_URL_1]/browse/A-1"),
        ("db.prod.svc.cluster.local:5432", "[INTERNAL_URL_1]:5432"),
        ("to http://10.42.204.17:9200/_cat", "to http://[INTERNAL_URL_1]:9200/_cat"),
        ("\\\\fs-delft-02\\finance\\a.xlsx", "\\\\[INTERNAL_URL_1]\\finance\\a.xlsx"),
        ("customer_id=CUST-204459", "customer_id=[CUSTOMER_ID_1]"),
        ("account number: 1675382741", "account number: [CUSTOMER_ID_1]"),
        ("IBAN: NL03 ABNA 2863 9417 05 BIC", "IBAN: [CUSTOMER_ID_1] BIC"),
        ('"iban":"DE18500105179482736458"', '"iban":"[CUSTOMER_ID_1]"'),
        ("card number 4539 7629 1830 4723 exp", "card number [CUSTOMER_ID_1] exp"),
        ("call +31 6 2847 3915 now", "call [PHONE_1] now"),
        ('"phone": "+1 (416) 628-3947"', '"phone": "[PHONE_1]"'),
        ("(416) 628-3947", "[PHONE_1]"),
        ("Handy: 0171 2849375", "Handy: [PHONE_1]"),
        ("tel:+49-30-68645573", "tel:[PHONE_1]"),
        ("Dear Jo Vermeer,\n\nwe", "Dear [PERSON_1],\n\nwe"),
        ("my name is Jo Vermeer.", "my name is [PERSON_1]."),
        (
            '{"name": "Jo Vermeer", "email": "jo@delftware.com"}',
            '{"name": "[PERSON_1]", "email": "[EMAIL_1]"}',
        ),
        ("cat box/jo.vermeer@delftware.com.json", "cat box/[EMAIL_1].json"),
        ("open jo.vermeer@delftware.co.uk.txt now", "open [EMAIL_1].txt now"),
        ("psql -h pg-main.internal -U app", "psql -h [INTERNAL_URL_1] -U app"),
        ("  HostName 10.42.204.17\n", "  HostName [INTERNAL_URL_1]\n"),
        (
            "Host gw\n  HostName gw.example.com\n  User jvermeer\n",
            "Host gw\n  HostName gw.example.com\n  User [USER_1]\n",
        ),
        ("maintainer: Jo Vermeer <jo@delftware.com>", "maintainer: [PERSON_1] <[EMAIL_1]>"),
        (
            '{"email": "jo@delftware.com", "name": "Jo Vermeer"}',
            '{"email": "[EMAIL_1]", "name": "[PERSON_1]"}',
        ),
        (
            '{"email": "hi@delftware.com", "name": "Delft Ware et Fils"}',
            '{"email": "[EMAIL_1]", "name": "Delft Ware et Fils"}',
        ),
        (
            "Full Name: Jo Vermeer\n",
            "Full Name: [PERSON_1]\n",
        ),
        (
            "- Name: Jo Vermeer\n  Email: jo@delftware.com\n",
            "- Name: [PERSON_1]\n  Email: [EMAIL_1]\n",
        ),
        (
            "To: Jo Vermeer <jo@delftware.com>, Saskia Bakker <s.bakker@delftware.com>",
            "To: [PERSON_1] <[EMAIL_1]>, [PERSON_2] <[EMAIL_2]>",
        ),
        ("user:        Jo Vermeer <jo@delftware.com>", "user:        [PERSON_1] <[EMAIL_1]>"),
        (
            '{"author":{"is_bot":false,"login":"jv1","name":"Jo Vermeer"},"name":"Big Fix"}',
            '{"author":{"is_bot":false,"login":"jv1","name":"[PERSON_1]"},"name":"Big Fix"}',
        ),
        (
            '{"login":"delft","name":"Delft Ware","type":"Organization"}',
            '{"login":"delft","name":"Delft Ware","type":"Organization"}',
        ),
        ('"assignee": {"name": "Jo Vermeer"}', '"assignee": {"name": "[PERSON_1]"}'),
        (
            "Authority=Apple Development: Jo Vermeer (AB12CD34EF)",
            "Authority=Apple Development: [PERSON_1] (AB12CD34EF)",
        ),
        ("subject=CN = Jo Vermeer, emailAddress = x", "subject=CN = [PERSON_1], emailAddress = x"),
        ("Assigned to: Jo Vermeer\n", "Assigned to: [PERSON_1]\n"),
        ("nameserver 10.42.204.17\n", "nameserver [INTERNAL_URL_1]\n"),
        ('To: "Vermeer, Jo" <jo@delftware.com>', 'To: "[PERSON_1]" <[EMAIL_1]>'),
        (
            'authors = [{name = "Jo Vermeer", email = "jo@delftware.com"}]',
            'authors = [{name = "[PERSON_1]", email = "[EMAIL_1]"}]',
        ),
        ("ssh-ed25519 AAAAC3NzaC1l jo@delftware.com", "ssh-ed25519 AAAAC3NzaC1l [EMAIL_1]"),
        ('memberId: "471463086"', 'memberId: "[CUSTOMER_ID_1]"'),
        ("policy number: 4714630", "policy number: [CUSTOMER_ID_1]"),
        ("numéro client : 4714630", "numéro client : [CUSTOMER_ID_1]"),
        ("contract no. 4714630", "contract no. [CUSTOMER_ID_1]"),
        ("https://wa.me/4915837597352", "https://wa.me/[PHONE_1]"),
        ('-d "To=+4915837597352"', '-d "To=+[PHONE_1]"'),
        ("Kundennummer: K-204459", "Kundennummer: [CUSTOMER_ID_1]"),
        ("jvermeer  pts/0   2026-02-03 09:11", "[USER_1]  pts/0   2026-02-03 09:11"),
        ("sudo:   jvermeer : TTY=pts/0 ; PWD=/srv ;", "sudo:   [USER_1] : TTY=pts/0 ; PWD=/srv ;"),
        ("[sudo] password for jvermeer: ", "[sudo] password for [USER_1]: "),
        ("Password for jvermeer:", "Password for [USER_1]:"),
        (
            "Accepted publickey for jvermeer from 203.0.113.9 port 5 ssh2",
            "Accepted publickey for [USER_1] from 203.0.113.9 port 5 ssh2",
        ),
        (
            "session opened for user jvermeer(uid=1000) by (uid=0)",
            "session opened for user [USER_1](uid=1000) by (uid=0)",
        ),
        ("git -c user.name=jvermeer commit", "git -c user.name=[USER_1] commit"),
        ("git config --global user.name jvermeer", "git config --global user.name [USER_1]"),
        ("\\\\wsl$\\Ubuntu\\home\\jvermeer\\x", "\\\\wsl$\\Ubuntu\\home\\[USER_1]\\x"),
        ("Author: Jo van der Meer <jo@delftware.com>", "Author: [PERSON_1] <[EMAIL_1]>"),
        ("Author: jvermeer <7+jo@users.noreply.github.com>", "Author: [USER_1] <[EMAIL_1]>"),
        ("From: Иван Петров <ivan@delftware.com>", "From: [PERSON_1] <[EMAIL_1]>"),
        (
            "author 王伟 <w@delftware.com> 1719834012 +0200",
            "author [PERSON_1] <[EMAIL_1]> 1719834012 +0200",
        ),
        ("Author: release-bot <release-bot@delftware.com>", "Author: release-bot <[EMAIL_1]>"),
        ("    42\tJo Vermeer <jo@delftware.com>", "    42\t[PERSON_1] <[EMAIL_1]>"),
        (
            "uid      [ultimate] Jo Vermeer <jo@delftware.com>",
            "uid      [ultimate] [PERSON_1] <[EMAIL_1]>",
        ),
        (
            "On Mon, Jan 5, 2026 at 10:11 AM Jo Vermeer <jo@delftware.com> wrote:",
            "On Mon, Jan 5, 2026 at 10:11 AM [PERSON_1] <[EMAIL_1]> wrote:",
        ),
        ('authors = ["Jo Vermeer <jo@delftware.com>"]', 'authors = ["[PERSON_1] <[EMAIL_1]>"]'),
        ("$ git config user.name\nJo Vermeer", "$ git config user.name\n[PERSON_1]"),
        ("$ git config --get user.name\njvermeer", "$ git config --get user.name\n[USER_1]"),
        (
            "[user]\n\tname = Jo Vermeer\n\temail = jo@delftware.com",
            "[user]\n\tname = [PERSON_1]\n\temail = [EMAIL_1]",
        ),
        ("je m'appelle Jo Vermeer.", "je m'appelle [PERSON_1]."),
        ("меня зовут Иван Петров.", "меня зовут [PERSON_1]."),
        (
            "ATTENDEE;CN=Jo Vermeer:mailto:jo@delftware.com",
            "ATTENDEE;CN=[PERSON_1]:mailto:[EMAIL_1]",
        ),
        ("BEGIN:VCARD\nFN:Jo Vermeer\n", "BEGIN:VCARD\nFN:[PERSON_1]\n"),
        (
            "<firstName>Marieke</firstName><customerId>884213</customerId><phone>+31651843907</phone>",
            "<firstName>[PERSON_1]</firstName><customerId>[CUSTOMER_ID_1]</customerId>"
            "<phone>[PHONE_1]</phone>",
        ),
        ('{"given_name": "Marieke", "n": 1}', '{"given_name": "[PERSON_1]", "n": 1}'),
        ('"preferred_username": "jvermeer2"', '"preferred_username": "[USER_1]"'),
        ("dn: a\nsAMAccountName: jvermeer2\n", "dn: a\nsAMAccountName: [USER_1]\n"),
        ("acme\\jvermeer2  S-1-5-21-1004336348", "acme\\[USER_1]  S-1-5-21-1004336348"),
        ("Registered Owner:          Jo Vermeer\n", "Registered Owner:          [PERSON_1]\n"),
        (
            "Domain:                    ad.delft.local\n",
            "Domain:                    [INTERNAL_URL_1]\n",
        ),
        ("Computer Name: Jo’s MacBook Pro\n", "Computer Name: [INTERNAL_URL_1]\n"),
        ("User Name: Jo Vermeer (jvermeer2)\n", "User Name: [PERSON_1] ([USER_1])\n"),
        ("CN=Jo Vermeer,OU=Users,DC=x", "CN=[PERSON_1],OU=Users,DC=x"),
        ("jvermeer:x:1001:1001::/srv:/bin/sh", "[USER_1]:x:1001:1001::/srv:/bin/sh"),
        ("cat /var/mail/jvermeer", "cat /var/mail/[USER_1]"),
        ("/tmp/pytest-of-jvermeer/pytest-0", "/tmp/pytest-of-[USER_1]/pytest-0"),
        (
            "Uid: ( 1000/ jvermeer)   Gid: ( 1000/ jvermeer)",
            "Uid: ( 1000/ [USER_1])   Gid: ( 1000/ [USER_1])",
        ),
        ("SUDO_USER=jvermeer\n", "SUDO_USER=[USER_1]\n"),
        ("$ echo $USER\njvermeer\n", "$ echo $USER\n[USER_1]\n"),
        ("jvermeer@delft-ws shop %", "[USER_1]@[INTERNAL_URL_1] shop %"),
        ("➜ jvermeer@delft-ws ~/src", "➜ [USER_1]@[INTERNAL_URL_1] ~/src"),
        ("┌──(jvermeer㉿kali)-[~]", "┌──([USER_1]㉿kali)-[~]"),
        (
            "✓ Logged in to github.com account jvermeer (keyring)",
            "✓ Logged in to github.com account [USER_1] (keyring)",
        ),
        (
            "Hi jvermeer! You've successfully authenticated, but",
            "Hi [USER_1]! You've successfully authenticated, but",
        ),
        (
            "Username for 'https://github.com': jvermeer",
            "Username for 'https://github.com': [USER_1]",
        ),
        ("curl http://pay.service.consul:8500/v1", "curl http://[INTERNAL_URL_1]:8500/v1"),
        ("ssh root@box.tail9f3c2.ts.net", "ssh root@[INTERNAL_URL_1]"),
        ("https://git.int.delftware.com/a", "https://[INTERNAL_URL_1]/a"),
        ("Hostname: Jos-MacBook-Pro.local", "Hostname: [INTERNAL_URL_1]"),
        (
            "Linux delft-ws-07 6.5.0-14-generic #14-Ubuntu SMP",
            "Linux [INTERNAL_URL_1] 6.5.0-14-generic #14-Ubuntu SMP",
        ),
        ("$ hostname\ndelft-ws-07\n", "$ hostname\n[INTERNAL_URL_1]\n"),
        (
            "vscode-remote://ssh-remote%2Bdelft-ws/src",
            "vscode-remote://ssh-remote%2B[INTERNAL_URL_1]/src",
        ),
    ],
)
def test_an_identity_is_masked_and_its_place_stays_readable(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("table", "masked"),
    [
        (
            'id,name,email,phone\n1,"Jo van der Meer",jo@delftware.com,0628473915\n',
            'id,name,email,phone\n1,"[PERSON_1]",[EMAIL_1],[PHONE_1]\n',
        ),
        (
            " id |    name    | email\n----+------------+---\n 1 | Jo Vermeer | jo@delftware.com\n",
            " id |    name    | email\n----+------------+---\n 1 | [PERSON_1] | [EMAIL_1]\n",
        ),
        (
            "first_name\tlast_name\tdob\nSaskia\tVermeer\t1980-02-03\n",
            "first_name\tlast_name\tdob\n[PERSON_1]\t[PERSON_2]\t1980-02-03\n",
        ),
        (
            "| Name | Email |\n|---|---|\n| Reply To | yes |\n",
            "| Name | Email |\n|---|---|\n| Reply To | yes |\n",
        ),
        ("id,name,city\n7,Jo Vermeer,Utrecht\n", "id,name,city\n7,Jo Vermeer,Utrecht\n"),
        (
            "first_name,last_name,age\nSaskia,Vermeer,33\n",
            "first_name,last_name,age\n[PERSON_1],[PERSON_2],33\n",
        ),
        (
            "full_name,stars\nacme/shop,33\n",
            "full_name,stars\nacme/shop,33\n",
        ),
    ],
)
def test_the_rows_of_a_table_of_people_are_masked(table: str, masked: str) -> None:
    assert mask(table) == masked
    numbered = "".join(f"{n:6}\t{line}\n" for n, line in enumerate(table.splitlines(), 1))
    assert [line.split("\t", 1)[1] for line in mask(numbered).splitlines()] == masked.splitlines()


def test_a_name_learnt_once_is_masked_as_a_word_everywhere() -> None:
    masker = Masker()
    masker.learn("/home/jvermeer/x")
    masker.seal()
    assert masker.mask("chown jvermeer:dev a") == "chown [USER_1]:dev a"
    assert masker.mask("JVERMEER said") == "[USER_1] said"
    assert masker.mask("jvermeers own") == "jvermeers own"


def test_names_of_people_stay_where_they_are_not_to_be_masked() -> None:
    masker = Masker(names=False)
    text = "Author: Jo Vermeer <jo@delftware.com>"
    masker.learn(text)
    masker.seal()
    assert masker.mask(text) == "Author: Jo Vermeer <[EMAIL_1]>"


@pytest.mark.parametrize("key", ["sessionId", "session_id", "parentSessionId", "sessionid"])
def test_the_field_of_an_agents_session_holds_no_secret(key: str) -> None:
    name = "49427c2d-598d-4c04-9de6-4786886c5587"
    masker = Masker()
    masker.learn(name, key)
    assert masker.mask(f"projects/shop/{name}.jsonl") == f"projects/shop/{name}.jsonl"
    cookie = some(32)
    masker.learn(cookie, key="JSESSIONID")
    assert cookie not in masker.mask(cookie, "JSESSIONID")


def test_the_field_that_holds_a_text_counts_as_its_key() -> None:
    secret = "hunter" + "two2"
    masker = Masker()
    masker.learn(secret, key="password")
    masker.seal()
    assert masker.mask(secret, key="password") == "[CREDENTIAL_1]"


def test_terms_and_patterns_of_the_user_are_masked() -> None:
    masker = Masker(terms=["Delftware"], patterns=[r"PRJ-\d{4}"])
    text = "DELFTWARE runs PRJ-1234, not PRJ-12"
    masker.learn(text)
    masker.seal()
    assert masker.mask(text) == "[TERM_1] runs [TERM_2], not PRJ-12"


def test_a_refused_pattern_is_named_by_its_place_only() -> None:
    with pytest.raises(ValueError, match=r"^pattern 2 is refused by re2; ") as refused:
        compile_users(["fine", r"(secret)\1"])
    assert "(secret)" not in str(refused.value)


def test_the_gate_finds_what_is_left_and_nothing_in_what_is_masked() -> None:
    token, secret = TOKENS["github"](), password()
    text = f"{token}\nDB_PASSWORD={secret}\n/home/jvermeer/x"
    masker = Masker()
    masker.learn(text)
    masker.seal()
    clean = json.dumps({"steps": [masker.mask(text)], "jvermeer": 1}).encode()
    assert masker.leaks(clean) == []
    hidden = base64.b64encode(secret.encode()).decode()
    for dirty in (token, secret, hidden, secret.encode().hex(), "jvermeer", TOKENS["stripe"]()):
        data = json.dumps({"steps": [f"left: {dirty}"]}).encode()
        found = masker.leaks(data)
        assert found
        assert all(isinstance(leak, Leak) and dirty not in repr(leak) for leak in found)


@pytest.mark.parametrize(
    "command",
    [
        "export DB_SECRET='{}'",
        "aws secretsmanager create-secret --name prod/db --secret-string '{}'",
    ],
)
def test_an_object_under_a_secret_key_is_read_by_its_members(command: str) -> None:
    secret = password()
    inner = json.dumps({"username": "app", "password": secret, "host": "db"})
    texts = [command.format(inner), '[{"username": "bob", "host": "db"}]']
    texts += [json.dumps({"command": texts[0]})]
    masker = Masker()
    for text in texts:
        masker.learn(text)
    masker.seal()
    masked = [masker.mask(text) for text in texts]
    assert masked[0] == texts[0].replace(json.dumps(secret)[1:-1], "[CREDENTIAL_1]")
    assert masked[1] is texts[1]
    assert json.loads(masked[2]) == {"command": masked[0]}
    document = json.dumps({"steps": masked}).encode()
    assert masker.leaks(document, texts=["steps", *masked]) == []


def test_what_only_the_signs_between_texts_spell_is_no_leak() -> None:
    masker = Masker(terms=['bob","id'])
    masker.learn("nothing")
    masker.seal()
    data = json.dumps(["bob", "id"], separators=(",", ":")).encode()
    assert masker.leaks(data, texts=["bob", "id"]) == []
    assert masker.leaks(json.dumps(['bob","id']).encode(), texts=['bob","id'])


@pytest.mark.parametrize("size", [64, 100, 333])
def test_a_document_is_searched_in_pieces_as_it_is_whole(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, name = password() + some(80), "jvermeer"
    known = Spread([("CREDENTIAL", secret.encode()), ("USER", name.encode())])
    forms = (secret, name, json.dumps(secret), secret.encode().hex(), name.upper(), secret[:20])
    encoded = base64.b64encode(b"xy" + secret.encode()).decode()
    data = " and ".join(["lorem ipsum", *forms, encoded, "dolor sit amet"] * 3).encode()
    whole = list(known.find(data))
    assert len({find.start for find in whole}) >= 3 * (len(forms) + 1)
    monkeypatch.setattr("forsy_retrace.redaction.scan.CHUNK", size)
    assert sorted(known.find(data)) == sorted(whole)


def test_each_of_two_equal_texts_without_a_secret_is_given_back_itself() -> None:
    masker = Masker()
    first, second = "nothing here", " ".join(["nothing", "here"])
    masker.learn(first, "input")
    assert masker.mask(first, "input") is first
    assert masker.mask(second, "output") is second
    assert not masker.holds(second)


def test_what_would_be_masked_is_told_without_being_counted() -> None:
    masker = Masker()
    masker.learn(f"DB_PASSWORD={password()}")
    masker.learn("nothing here")
    masker.seal()
    assert masker.holds(TOKENS["github"]())
    assert not masker.holds("nothing here")
    assert masker.counts == {}


def test_json_and_source_still_parse() -> None:
    token, secret = TOKENS["anthropic"](), 'a"b\\c' + password()
    value = {"password": secret, "t": f"x\n{token}\té", "p": "C:\\Users\\nvermeer\\n", "n": [1]}
    for text in (json.dumps(value), json.dumps(json.dumps(value)), json.dumps(value, indent=1)):
        masked = mask(text)
        json.loads(masked)
        assert token not in masked
    source = f"password = {secret!r}\nclient(api_key='{token}', n=1)\n"
    compile(mask(source), "x", "exec")


PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            *("password=", "token: ", '"secret": "', "/home/", "C:\\Users\\", "@", ".com ", "://"),
            *("-----BEGIN RSA " + "PRIVATE KEY-----\n", "-----END", "Cookie: ", "Bearer ", "\\n"),
            *("\\u00", "%", "&quot;", "\x1b[3", "[CREDENTIAL_2]", "kind: Secret\ndata:\n", "sk-"),
            *("gh" + "p_", "\ud800", "\x00", "mysql -p", "10.", "\\\\", "customer_id=", "whoami\n"),
            *(some(40), some(24), some(8), some(32, HEX), "jvermeer", "\n", " ", '"', "'", "="),
        ]
    ),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
LAX = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@LAX
@example("passwor='&quot;passwor='")
@example('SECRET:"{0}\\{0}"'.format("q7Zr2LmX9vKt4WbN8sYc3HdP6fJg1TeA5uRo0Qi"))
@example("PASSWOR={\x1f&")
@example('Passwor="asswor=\\\\')
@example("PASSWORD={hunter2&xx")
@given(TEXTS)
@example("\\USERS\x1f")
@example("\\USERS\\º0")
@example("\\USERS\\Nkind: a\nkind: b")
def test_no_text_raises_and_the_json_around_it_still_parses(text: str) -> None:
    assert isinstance(mask(text), str)
    json.loads(mask(json.dumps({"k": text})))


@LAX
@given(TEXTS)
def test_what_is_masked_stays_as_it_is(text: str) -> None:
    once = mask(" ; ".join(text.split("\n")))
    assert mask(once) == once


@LAX
@given(TEXTS, st.sampled_from(["", "password", "output"]))
def test_the_gate_finds_nothing_in_a_text_that_it_need_not_read_again(text: str, key: str) -> None:
    masker = Masker()
    masker.learn(text, key)
    masker.seal()
    if masker.mask(text, key) == text:
        data = text.encode("utf-8", "surrogatepass")
        assert masker.leaks(data) == masker.leaks(data, texts=[text]) == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


@pytest.mark.slow
@LAX
@given(st.lists(JSON_VALUES, max_size=4))
def test_the_texts_of_rows_are_all_their_texts_and_names(rows: list[object]) -> None:
    def texts(value: object) -> Iterator[str]:
        match value:
            case str():
                yield value
            case dict():
                for name, inner in value.items():
                    yield from (name, *texts(inner))
            case list():
                for inner in value:
                    yield from texts(inner)

    found = texts_of(json.dumps(row, ensure_ascii=False).encode() for row in rows)
    assert len(found) == len(set(found))
    assert set(found) == set(texts(rows))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_a_view_leads_back_into_the_text(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for view in views(data):
        for place in range(len(view.data)):
            start, end = view.back(place, place + 1)
            assert 0 <= start <= end <= len(data)


HOSTILE = [
    *(
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----END RSA PRIVATE KEY-----\n",
        "gh" + "p_",
        "token ",
    ),
    *(
        "password=",
        "password: ",
        '"password": "',
        "mysql -p",
        "curl -u a:",
        "a@b.",
        "@",
        "\\\\a-1\\",
    ),
    *(
        "://a:",
        "Cookie: a=",
        "kind: Secret\ndata:\n",
        "eyJ",
        "AAAA",
        "Z2hw",
        "6768705f",
        "a.b.local",
    ),
    *(
        "github ",
        "\\u00",
        "%41",
        "&quot;",
        "\x1b[3m",
        "10.1.",
        "-us1",
        ".atlasv1.",
        "T3BlbkFJ",
        "<<<",
    ),
    *("password,\n", "| password ", "a,password\n1,", "mysql ", "curl & ", "zip '", "password ("),
    *("password: \n", '"name": "password", ', "set password ", "vault kv put ", "arn:", "author: "),
    *("insert into t(password)values('a'),(", "COPY t (token) FROM stdin\nx\n", "login: bob / "),
    *(
        "password  a\n--------  -\n",
        "│ password ┃",
        '"password","a"\n',
        "aaaaaaaa as the password ",
    ),
    *('"password": {"a": "b", ', 'variable "password" { ', '<password a="b" ', "a:b@tcp("),
    *("phone +1 416 ", "call +31 6 1 ", "iban NL91 ABNA ", "card number 4539 7629 "),
    *("/invite/aB3cD4", "+AQE" + "aB3" * 22 + "\n", '"ghp_abc" + ', "\nDear Aa Bb", "pw: "),
    *("password from aaaaaaaa to ", "password “a", "the password that ", "password" + " " * 30),
    *("key = ('aB3dE6gH9'\n", "PWD={", "recovery codes:\nab4-cd5\n", "following password:\n\n"),
    *(
        "[a]:587 b:",
        "rtmp://a/b/",
        '"SecureString", "',
        "a1 login b ",
        "credentials('a', ",
        "secret 0 ",
    ),
    *(
        "密码是 a，",
        "mysqladmin password ",
        "jwt.sign(a, ",
        '"random_password" { ',
        "│ password │ a ",
    ),
    *(
        "7→password,\n",
        "> > # token\n",
        "-token:\n",
        "'a\\n ",
        '": "\\n',
        "</span><span>",
        "<pre>",
    ),
    *('"kty"', "x" * 64 + "\n", "[CREDENTIAL_1]", "Thanks,\n", "Author: A B <", "/home/a", "fd00:"),
    *(
        '{"httpOnly": "name": "',
        "{'name': 'a', 'value': 'httponly' ",
        "\tTRUE\t/\tTRUE\t1\ta\t",
        'cookies={"a": "b", ',
        "| base64 -d ",
        "echo QUJDREVGR0hJSktMTU5PUA== | base64 -d ",
        " -enc QUJDREVGR0hJSktMTU5PUA== ",
        "Basic QUJDREVGR0hJSktMTU5PUA== ",
        "[user]\nname = a\nb = c\n",
        "Author: a b <a@b.de",
        "On Mon 1 Jo Vermeer <a@b.de> ",
        "Linux a-b 1.2.3 ",
        "a.corp.b.",
        "Login: **a** / ",
        "id,name,email\n",
        "| name | email |\n",
        "x_auth=a:",
    ),
    *(
        "<tr><th>token</th>",
        "<th>token</th>",
        "<tr><th>token</th></tr>",
        "<tr><th>token</th></tr><tr><td>a</td></tr>",
        "<tr><th>token</th></tr><tr><td></td>",
        '"random_password", "a": [{"b": {"result": ',
        "loginmodule user_a=",
        "com2sec a b ",
        "gsk_aB3dE6\n",
        "0000000 67 68 70\n",
        "00000000: 6768 gh\n",
        "0000000   g   h  \\n\n",
        "00000000  67 68  |gh|\n",
        "000000 ",
        "$ANSIBLE_VAULT;1.1;AES256\n61\n",
        "kind: Secret\nstringData:\n  a: b\n",
        "pass show a | head ",
        "sudo -S <<EOF\na\n",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_as_the_text_does(piece: str) -> None:
    def seconds(size: int) -> float:
        data = (piece * (size // len(piece))).encode()
        start = time.process_time()
        rules().scan(data)
        return time.process_time() - start

    seconds(1000)
    once = twice = 0.0
    for _ in range(9):  # a neighbour on the machine may slow a round: its own three compare
        before, twice, after = seconds(10_000), seconds(20_000), seconds(10_000)
        once = min(before, after)
        if twice <= 2.5 * once + 0.02 and twice < 0.4:  # two seconds for 100 kB
            return
    raise AssertionError(f"{twice:.3f} s for twice what takes {once:.3f} s")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *("| password ", "│ password │ a ", 'password {a" ', "password="),
        *(
            "-----BEGIN PRIVATE KEY-----\n- a\n",
            "-----END PRIVATE KEY-----\n",
            "- " + "a" * 64 + "\n",
        ),
    ],
)
def test_what_stands_far_before_on_a_long_line_is_not_read_again(piece: str) -> None:
    def seconds(size: int) -> float:
        data = (piece * (size // len(piece))).encode()
        start = time.process_time()
        rules().scan(data)
        return time.process_time() - start

    seconds(1000)
    # A neighbour on the machine may slow a round; what grows as the square never takes so little.
    assert any(seconds(800_000) < 12 * seconds(100_000) for _ in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["/home/jvermeer/a ", "see j.vermeer@delftware.com, "])
def test_a_text_full_of_known_values_is_masked_and_checked_in_step_with_its_length(
    piece: str,
) -> None:
    masker = Masker()
    text = piece * 20_000
    start = time.process_time()
    masker.learn(text)
    masker.seal()
    masked = masker.mask(text)
    assert masker.leaks(masked.encode()) == []
    assert time.process_time() - start < 6  # each held against each, it takes three times as long


def test_a_text_longer_than_a_chunk_is_scanned_to_its_end() -> None:
    filler = "nothing to see here, move along\n" * 40_000
    token = TOKENS["github"]()
    for text in (filler + token, filler[: 1 << 20] + token + filler):
        assert token not in mask(text)


@pytest.mark.slow
def test_without_the_wheels_the_same_is_found() -> None:
    plain = rules(plain=True)
    samples = [around.format(make()) for make in TOKENS.values() for around in AROUND]
    samples += [template.format(password()) for template, _ in UNDER_A_KEY] + HARMLESS
    for text in samples:
        data = text.encode()
        assert sorted(plain.scan(data)) == sorted(rules().scan(data)), text


def test_the_automaton_and_its_stand_in_agree() -> None:
    words = [b"a", b"ab", b"abc", b"bc", b"b", b"\n", b"token", b"to"]
    data = b"abcab\ntokento"
    fast, plain = Literals(words).find(data), Literals(words, plain=True).find(data)
    assert sorted(fast) == sorted(plain)


def test_every_rule_is_bounded_and_names_its_origin() -> None:
    origins = rule_files.load("rules.toml")["origin"]
    rows = rule_files.tokens()
    assert len(rows) >= 200
    for row in rows:
        assert row.origin in origins
        assert is_bounded(row.rest), row
        assert is_bounded(row.back), row
    for command in rule_files.commands():
        assert is_bounded(command.to_value), command
        assert is_bounded(command.before), command
    for bad in ("a+", "(?=a)", "a{2,}", r"(a)\1", "(?<!x)a", ".*"):
        assert not is_bounded(bad), bad


@pytest.mark.slow
@pytest.mark.skipif(optional("re2") is None, reason="google-re2 is not installed")
def test_re2_reads_every_rule_as_re_does() -> None:
    re2 = optional("re2")
    options = re2.Options()
    options.log_errors = False
    for row in rule_files.tokens():
        if not row.rest:
            continue
        ours, theirs = rule_files.bounded(row.rest), re2.compile(row.rest.encode(), options)
        for make in TOKENS.values():
            token = make().encode()
            tail = token.removeprefix(row.start.encode())
            a, b = ours.match(tail), theirs.match(tail)
            assert (a and a.span()) == (b and b.span()), row.id
    for command in rule_files.commands():
        re2.compile(command.to_value.encode(), options)
        re2.compile(command.before.encode(), options)


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", BENCH / "score.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cwd /home/müller/shop", "cwd /home/[USER_1]/shop"),
        ("C:\\Users\\Müller\\shop", "C:\\Users\\[USER_1]\\shop"),
        ("/home/王伟/x", "/home/[USER_1]/x"),
        ("/Users/Jose\u0301/code", "/Users/[USER_1]/code"),
        ("/Users/jvermeer的文件", "/Users/[USER_1]的文件"),
        ("/home/jvermeer→ moved", "/home/[USER_1]→ moved"),
        ("c:/users/jvermeer/appdata", "c:/users/[USER_1]/appdata"),
        ("-mnt-c-Users-jvermeer-shop", "-mnt-c-Users-[USER_1]-shop"),
        ("--wsl-localhost-Debian-home-jvermeer-x", "--wsl-localhost-Debian-home-[USER_1]-x"),
        ("/home/jan.vermeer/x in -home-jan-vermeer-x", "/home/[USER_1]/x in -home-[USER_1]-x"),
        ("root@zentra-prod-01:~# ls", "root@[INTERNAL_URL_1]:~# ls"),
        (
            "jverm:x:1000:1000:Jan Vermeer,,,:/home/jverm:/bin/sh",
            "[USER_1]:x:1000:1000:[PERSON_1],,,:/home/[USER_1]:/bin/sh",
        ),
        (
            "mysql -uroot -pGe7eim2 shop; no Ge7eim2",
            "mysql -uroot -p[CREDENTIAL_1] shop; no [CREDENTIAL_1]",
        ),
    ],
)
def test_whose_it_is_does_not_hang_on_its_letters_or_length(text: str, said: str) -> None:
    assert mask(text) == said
    inner = json.loads(mask(json.dumps({"k": text})))
    assert inner["k"] == said


@pytest.mark.parametrize(
    "text",
    [
        "GET /users/jvermeer and -guide-Users-of-the-shop",
        "root@3f2a1b9c8d7e:/# ls",
        "root@box:~# ls",
        "MacBook-Pro, a my-macbook and dc1.corp.contoso.com",
        "Linux kernel-headers 6.1.0 and import pkg.internal.net.http",
        "$ git config user.name\ngit status\n",
        "Logged in to the shop as usual",
        'input("Please enter the correct password for flag: ")',
        "CN=DigiCert Global Root CA, O=DigiCert",
        "docker:x:1001:",
        "from=1719834012&to=1719920412 of your account. 2024 was a client. 20240105",
    ],
)
def test_what_only_looks_like_a_home_or_a_host_stays(text: str) -> None:
    assert mask(text) is text


def test_a_users_own_text_is_masked_in_every_case_and_writing() -> None:
    masker = Masker(terms=["Müller"])
    text = "Müller MÜLLER müller Mu\u0308ller M&uuml;ller M&#252;ller"
    assert masker.mask(text) == " ".join(["[TERM_1]"] * 6)


@pytest.mark.gold
@pytest.mark.skipif(not BENCH.exists(), reason="the bench is not kept beside this checkout")
@pytest.mark.parametrize(
    ("name", "recall"), [("bench_dev", 0.98), ("bench_raw_dev", 0.97), ("bench_pii_dev", 0.8)]
)
def test_the_bench_is_masked(name: str, recall: float) -> None:
    with gzip.open(BENCH / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        bench = [json.loads(line) for line in lines]
    out = {row["id"]: mask(row["text"]) for row in bench}
    (counts,) = scorer().score(bench, out)[0].values()
    positive, _, strict, kept, negative, changed = counts
    assert strict / positive >= recall
    assert changed / negative <= 0.01
    assert kept / strict >= 0.995
    if name == "bench_pii_dev":
        homes = [row for row in bench if row["kind"].startswith(("home", "user"))]
        found = sum(row["text"][slice(*row["spans"][0])] not in out[row["id"]] for row in homes)
        assert found / len(homes) >= 0.98


SLOWLY = pytest.param(b"A", marks=pytest.mark.slow)


@pytest.mark.parametrize("padding", [SLOWLY, b" ", b"\0"])
def test_padding_is_passed_over_and_what_stands_behind_it_is_not(padding: bytes) -> None:
    """Two megabytes of one byte, each place of which might begin a token."""
    token = b"ghp_" + b"R7" + b"k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
    text = (b"x " + padding * (2 << 20) + b" " + token + b" y").decode()
    masked = mask(text)
    assert masked == text.replace(token.decode(), "[CREDENTIAL_1]")


@pytest.mark.slow
def test_the_standard_library_hardly_changes_and_still_parses() -> None:
    """Every fourth module as a tool's output; its tests are left out, they hold made-up people."""
    root = Path(sysconfig.get_paths()["stdlib"])
    modules = [
        path
        for path in sorted(root.rglob("*.py"))
        if not {"site-packages", "test", "tests", "idle_test"} & set(path.parts)
    ]
    size = changes = 0
    for path in modules[::4]:
        source = path.read_text("utf-8", "replace")
        masker = Masker()
        masker.learn(source)
        masked = masker.mask(source)
        size += len(source)
        changes += sum(count for kind, count in masker.counts.items() if kind != "EMAIL")
        if masked != source:
            ast.parse(masked)
    assert size > 1_000_000
    assert changes <= size / 2_000_000


@pytest.mark.parametrize("name", ["call", "message"])
def test_an_id_passes_unread_only_in_the_shape_that_clients_give(name: str) -> None:
    key = "AKIA" + "Q3RTVZ7XW2LMNP5K"
    masker = Masker()
    for start in ("call_", "toolu_", "msg_"):
        masker.learn(start + key, name)
        assert key not in masked({name: start + key}, masker)[name]
    whole = {"call": "toolu_01" + "jqu1AavEF0jdRAd6KyShoB"}
    assert masked(whole, masker) is whole


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('password={ab"cd;ef9#xY}"', 'password={[CREDENTIAL_1]}"'),
        ('PWD={Qz7"kk;Tr9!mmLp};Server=db', "PWD={[CREDENTIAL_1]};Server=db"),
        ('{"t": "PASSWORD={hunter2&xx"}', '{"t": "PASSWORD=[CREDENTIAL_1]"}'),
    ],
)
def test_a_password_in_braces_ends_with_them_or_with_the_text_around_it(
    text: str, told: str
) -> None:
    assert mask(text) == told


HELD = "kQ8mW2pLzR4vT7xN"
IN_ITS_PLACE = [
    " id | mail | pw\n----+------+----\n 1 | none | {held}\n",
    "user,pw\nbeheer,{held}\n",
    "| user | pw |\n|---|---|\n| beheer | {held} |\n",
    '{{"pw": "{held}"}}',
    '$pw = "{held}";',
    '[encryption]\nkey = "{held}{held}"\n',
    "[encryption]\nKEY={held}{held}\n",
    '"cookies":[{{"name":"theme","value":"dark"}},{{"name":"sid","value":"{held}","domain":"x"}}]',
    "aws ssm put-parameter --name /x/db --value {held} --type SecureString",
    "wrangler secret put CART <<< '{held}'",
    "CREDS = ('beheer', '{held}')",
    '"cookies":[{{"domain":"x","value":"{held}","name":"sid"}}]',
    '"cookies":[{{"name":"prefs","value":"{{a}}","x":{{"y":1}}}},{{"name":"sid","value":"{held}"}}]',
    "INSERT INTO users (id, pw) VALUES (make_id(), '{held}')",
    "INSERT INTO users (note, pw) VALUES\n            ('two\nlines', 'x'),\n  ('a', '{held}');",
    "INSERT INTO \"our users\" AS u (id, pw) VALUES\n-- all\n('7'::uuid, '{held}')",
    "user,pw\n" + "beheer,x9!\n" * 200 + "beheer,{held}\n",
    "vercel env add CART_TOKEN production <<< {held}",
    "aws ssm put-parameter --name /x/db --value {held}",
    "\nkey: {held}",
]


@pytest.mark.parametrize("way", IN_ITS_PLACE)
def test_a_secret_is_known_by_a_short_key_a_list_or_a_command(way: str) -> None:
    assert HELD not in mask(way.format(held=HELD))


@pytest.mark.parametrize("key", ["Password", "Pwd"])
def test_only_a_semicolon_ends_a_value_of_a_connection_string(key: str) -> None:
    shown = mask(f"Server=db;User Id=sa;{key}=kQ8m W2pLzR!4;Encrypt=True;")
    assert shown == f"Server=db;User Id=sa;{key}=[CREDENTIAL_1];Encrypt=True;"
    told = mask(f"Then {key}=kQ8mW2pLzR4 and go on; it is done")
    assert told.endswith("and go on; it is done")
    first = mask(f"{key}=kQ8m W2pLzR!4;Server=db;User Id=sa;")
    assert first == f"{key}=[CREDENTIAL_1];Server=db;User Id=sa;"
    last = mask(f'x = "Server=db;User Id=sa;{key}=kQ8=m W2=pLzR!4"')
    assert last == f'x = "Server=db;User Id=sa;{key}=[CREDENTIAL_1]"'


@pytest.mark.parametrize(
    "text",
    [
        '{"tokenSaverOutput":"--- FAIL: TestLifecycle_RewindPreCommit (0.00s)\\nFAIL"}',
        "@@\\n-\\\\n-Purpose\\n",
        "empty \\\\u003cEnter\\\\u003e x",
        "    _assertion_pass: Callable[[int, str, str], None] | None = None\n",
        '    MovedAttribute("HTTPPasswordMgr", "urllib2", "urllib.request"),\n',
        '_HEX_PAT = "[0-9A-Fa-f]{1,4}"\n',
        '    Token.Comment: "italic #A3AAB2",\n',
        'key = "Ctrl+Shift+P"\n',
        '[bindings]\nkey = "CommandPaletteToggleShortcutAction"\n',
        'import { test, pw } from "playwright"\npw = page.locator("x")\n',
        '"cookies":[{"name":"theme","value":"dark"}]',
        "\nkey: Linux-node-8f3a1c9e5b7d2f4a6c8e0b1d3f5a7c9e1b3d5f7a",
        "Event:\nKey: reports/2024/q1/8f3a1c9e5b7d2f4a6c8e.csv",
        "\nkey: 7f3a1c9e-5b7d-4f4a-8c8e-0b1d3f5a7c9e",
        "vercel env add NODE_ENV production <<< production",
        'gh secret set X && grep foo <<< "some text here"',
        "aws ssm put-parameter --name /ami --value ami-0abc1234567890def --type String",
        "PWM|pw=12ms|",
        "POINTS = ('beheer', 'kamer')",
    ],
)
def test_what_only_looks_like_the_name_of_a_secret_hides_nothing(text: str) -> None:
    assert mask(text) == text


def test_a_list_of_bytes_is_read_as_the_text_that_it_spells() -> None:
    chunk = list(f"DB_PASSWORD={HELD}\nCART=oak\n".encode())
    shown = mask(f'{{"chunk": {chunk}, "next": 1}}')
    assert shown.startswith('{"chunk": [68, 66, 95,')
    assert "[CREDENTIAL_1]" in shown
    assert ", ".join(map(str, HELD.encode()))[4:-4] not in shown
    plain = f'{{"chunk": {list(b"nothing to hide in this")}, "sizes": {[300] * 20}}}'
    assert mask(plain) == plain


def _discord() -> str:
    number = base64.b64encode(str(random.randrange(10**17, 10**18)).encode()).decode()
    return f"{number.rstrip('=')}.{some(6)}.{some(38)}"


@pytest.mark.parametrize(
    ("text", "make", "masked"),
    [
        ("sent as {} by it", lambda: TOKENS["github"]().encode().hex(), "[CREDENTIAL_1]"),
        (
            '{{"auths": {{"registry.example.com": {{"auth": "{}"}}}}}}',
            lambda: base64.b64encode(f"ops:{some(14)}".encode()).decode(),
            "[CREDENTIAL_1]",
        ),
        ("the bot says {} there", _discord, "[CREDENTIAL_1]"),
        ("paid by {} today", lambda: f"cus_{some(12)}4K", "[CUSTOMER_ID_1]"),
        (
            "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n{}\nPrivate-MAC: 0\n",
            lambda: f"{some(64)}\n{some(40)}==",
            "[CREDENTIAL_1]",
        ),
    ],
    ids=["hex", "docker", "discord", "stripe", "putty"],
)
def test_what_no_other_sample_holds_is_masked_too(
    text: str, make: Callable[[], str], masked: str
) -> None:
    for _ in range(5):
        assert mask(text.format(make())) == text.format(masked)


def test_a_subagents_kind_is_masked_and_its_number_stays() -> None:
    key = "ghp_" + "R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
    told = [subagent(kind, 7) for kind in (key, key + "x", "explore")]
    masker = Masker()
    for one in told:
        masker.learn(one)
    masker.seal()
    assert [masked({"actor": one}, masker)["actor"] for one in told] == [
        "subagent:[CREDENTIAL_1]_7",
        "subagent:agent_7",
        "subagent:explore_7",
    ]


def test_what_is_cut_short_ends_in_a_whole_word() -> None:
    said = "error: no login for jo.carter@acme.dev by sk-live-Zk3v9 at https://acme.dev/in/x"
    words = said.replace("/", "/ ").split()
    for most in range(len(said)):
        kept = shortened(said, most, "").replace("/", "/ ").split()
        assert kept == words[: len(kept)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("aws_secret_access_key=wJ1/rXUtnFEMI/K7MD", "…"),
        ("/home/ana/shop/prices/cart.py", "/home/ana/shop/…"),
        ("https://acme.dev/shop/cart.py", "https://acme.dev/…"),
    ],
)
def test_only_a_path_or_an_address_is_cut_at_a_slash(text: str, cut: str) -> None:
    assert shortened(text, 20) == cut
