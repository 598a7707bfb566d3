"""Secrets as people write them: what a sentence or a label says is secret goes, whatever it looks like."""

from __future__ import annotations

import re

import pytest

from hexad.redaction.redact import project_rules, redact

RULES = project_rules("all")


def redacted_text(text: str) -> str:
    return redact(text, rules=RULES, salt=b"salt").text


RANDOM = "kT9vQ2" + "zLp7"
WORDS = "-".join(["correct", "horse", "battery"])
FISH = "sword" + "fish"

SAID = [
    *((text, RANDOM) for text in (
        "Password for the db is {}",
        "The password of the admin account is {}",
        "The password to the admin panel is `{}`",
        "The wifi password at the office is {}.",
        "password:\n{}",
        "login: admin / {}",
        "credentials for staging: admin / {}",
        "user admin, pass {}",
        "recovery code: {}",
        "my pin: {}",
        "I changed the root password last night, it's now {}",
        "Log in as ines with the password {}.",
        "Le mot de passe de la base, c'est {}",
        "Il codice di recupero dell'account è {}",
        "Yönetim paneli için kullanıcı adı admin, parola {}",
        "ステージング環境のパスワードは {} です",
        "API密钥:{}",
        "password（密码）: {}",
        "das Passwort ist {}",
        "Das Kennwort für den Server lautet {}.",
        "le mot de passe est {}",
        "la contraseña del router es {}",
        "a senha é {}",
        "la parola d'ordine è {}",
        "het wachtwoord is {}",
        "lösenord: {}",
        "hasło to {}",
        "şifre: {}",
        "пароль от почты: {}",
        "κωδικός πρόσβασης: {}",
        "mật khẩu: {}",
        "kata sandi adalah {}",
        "密码是{}",
        "パスワードは {} です",
        "비밀번호는 {} 입니다",
        "סיסמה: {}",
        "Lösenord     : {}",
        "Jelszó: {}",
        "Kata laluan: {}",
        "Fjalëkalim: {}",
        "Slaptažodis:          {}",
        "პაროლი: {}",
        "چاپ: گذرواژه: {}",
        "Passwort für Benutzer tomasz auf {} geändert",
        "Wachtwoord van gebruiker tomasz gewijzigd in {}",
        "Dodano użytkownika anouk z hasłem {}",
        "Пароль пользователя anouk изменен на {}",
        "Se ha cambiado la contraseña del usuario mirela a {}",
        "Mot de passe généré {} pour yuki.",
        "生成密码{}为anouk",
        "Mot de passe temporaire :\n{}",
        "암호: {}",
    )),
    *((text, "Xk3v" + "Q9zLp7") for text in (
        "Brugeren yuki er oprettet med {} som adgangskode",
        'Utilisateur "yuki" créé avec "{}" comme mot de passe',
        "사용자 yuki 에게 {} 암호",
        "{} :كلمة المرور",
        "Ger-tremen: {}",
    )),
    ('Korisnik "yuki" izrađen sa "{}" kao zaporkom', "lantern-candle-0476"),
    ("Un mot de passe temporaire est fourni pour cette session : {}", "harvest" + "47"),
    ("Slaptažodis: {}", "gpBg" + "wwaPctPz"),
    ("Wachtwoord: {}", "kTvQzLpRwB"),
    ("Lösenord för användare kwame ändrat till {}", "Saffron" + "_42!"),
    *((text, WORDS) for text in (
        "auth token is {}",
        "credentials are admin:{}",
        "webhook secret is {}",
        "Authorization: Bearer {}",
        "encryption key: {}",
        "set the password to {}",
    )),
    *((text, FISH) for text in (
        "client_secret: {}",
        "mysql -u root --password {}",
        "| password | {} |",
        "Set the password for the vault to {}.",
        "password:{}",
        "PSK: {}",
        "pre-shared key: {}",
        "db pass = {}",
        "Wi-Fi key: {}",
    )),
    ("our door code is {}", "48" + "21#"),
    ("safe combination: {}", "48" + "2193"),
    ("passphrase: {}", "winter is" + " near"),
    ("admin password: {}", "48" + "21"),
    ("PIN for the alarm: {}", "48" + "21"),
    ("token={}", "48" + "21"),
    ("passphrase: {}", "winter is coming" + " again tonight"),
    ("seed phrase: {}", "apple river stone cloud tiger " + "lemon grape ocean forest pillow candle mirror"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SAID)
def test_what_is_said_to_be_secret_goes_and_the_words_around_it_stay(text: str, value: str) -> None:
    before, _, after = text.partition("{}")

    redacted = redact(text.format(value), rules=RULES, salt=b"salt").text

    assert value not in redacted
    assert redacted.startswith(before)
    assert redacted.endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in Vault",
        "The password is case-sensitive.",
        "The auth token is short-lived.",
        "The session token is user-specific",
        "the password for the account is at least 12 characters",
        "The password of the user is hashed with bcrypt.",
        "set the password to expire",
        "Access key: see the wiki",
        "login: see above / below",
        "credentials: stored in vault / keychain",
        "user admin, pass through",
        "PIN: 4 digits",
        "max_token=4096",
        "--password PASSWORD",
        "use --password to set it",
        "| password | string |",
        "passphrase: the phrase that opens the key file",
        "client_secret: ${ENV}",
        "token = get_token()",
        "password: yup.string().required()",
        "def login(user: str, password: str) -> Token:",
        "product key: color",
        "clave: valor",
        "La contraseña es obligatoria",
        "Das Passwort ist abgelaufen",
        "Mot de passe : obligatoire",
        "I changed the password, it's annoying.",
        "Sign in with the password manager.",
        "Le mot de passe est requis",
        "Authorization: Bearer $TOKEN",
        "Password: SHA-256",
        "The seed phrase: twelve words",
        "the first pass = lexing",
        "user pass: required",
        "passphrase: none given here",
        "the network key is distributed by DHCP",
        "network key: sorted by host",
        "lock code: mutex",
        "Passwort zum Verschlüsseln der privaten Schlüssel der Liste",
        "mit Passwort authentifiziert",
        "Nome de usuario ou contrasinal incorrectos.",
        "Prázdne heslo pre phpMyAdmin control užívateľa pri použití úložiska",
        "Променена е паролата за потребител: tomasz",
        "FTP-kodeord er p&#229;kr&#230;vet",
        "The password hash of the user is made with SHA256 or MD5.",
        "Reset the password for user tomasz42",
        "The password for PostgreSQL16 is read from PGPASSFILE.",
        "I forgot my password for the Windows11 laptop",
        "Passwort für Office365 vergessen",
        "Пароль от Windows10 забыл, сброс через BIOS",
        "密码使用SHA256加密",
        "The password column is varchar255 in Postgres14",
        "password check fixed in commit 3f2a9bc1d",
        "password bug: see PR#4521 and issue#88a",
        "password hash 5f4dcc3b5aa765d61d8327deb882cf99",
        "kata sandi minimal 8karakter",
        "Changing your password:\n1. Open settings2 first",
        "for the MySQL4+ password function",
        "Fixes PROJ-1234: password",
        "Import backup/2/email/ passwords",
        "TLSv1.2 PSK:!RC4:!ADH:!LOW",
        "PW\t+0720+13429\tPacific/Palau",
    ],
)
def test_what_speaks_of_secrets_stays(text: str) -> None:
    assert text == redact(text, rules=RULES, salt=b"salt").text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password\n{}", "hunter2" + "-x9Qr"),
        ("# Mail\n\nDB password\n{}\n", "Zq7!" + "kk2xP"),
        ("wifi password? {}", "hunter2" + "-x9Qr"),
        ("What's the db password?\nIt is {}", "Tr0ub4dor" + "&3"),
        ("Q: db password?\nA: {}", "hunter2" + "-x9Qr"),
        ("What is the root password? It's {}.", "Zq7!" + "kk2xP"),
        ("log in with root / {}", "hunter2" + "-x9Qr"),
        ("Sign in as admin / {}, then restart it.", "Zq7!" + "kk2xP"),
        ("heroku key {}", "3f2a8c1e-9b7d-4e6f" + "-a1c2-5d8e9f0b3a47"),
        ("the algolia key {} is for search", "9f8e7d6c5b4a3928" + "1706f5e4d3c2b1a0"),
        ("OTP seed: {}", "JBSWY3DP" + "EHPK3PXP"),
        ("the 2fa key is {}", "JBSWY3DP" + "EHPK3PXP"),
    ],
)
def test_a_value_below_its_name_or_as_an_answer_goes(text: str, value: str) -> None:
    redacted = redacted_text(text.format(value))

    assert [*text.split("{}")] == re.split(r"\[REDACTED:[a-z-]+\]", redacted)


@pytest.mark.parametrize(
    "text",
    [
        "password\npassword123\nqwerty1\n",
        "username\npassword\nemail-2\n",
        "Forgot your password? Reset2FA now.",
        "Which password? None.",
        "What is the password?\nIt is in Bitwarden",
        "log in with GitHub / Google",
        "Log in with email / password",
        "sign in as admin / root",
        "heroku key rotation",
        "the sentry key 12",
        "seed: 1234567890",
        "OTP seed: REQUIRED",
    ],
)
def test_a_name_a_question_and_a_choice_without_a_value_stay(text: str) -> None:
    assert text == redacted_text(text)
