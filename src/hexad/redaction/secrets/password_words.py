"""What people call a password, a PIN, a passphrase or a key, language by language, and what they call a user.

A `~` at the end of a word says that the language puts endings there: `парол~` stands for пароль, паролем and паролата.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

_BY_LANGUAGE: Final = """
en password|pass phrase|passphrase|pass-phrase|pass code|passcode|passwd|pswd|psw|pwd|pw|p/w|pin|psk
en pre-shared key|preshared key
en p4ssw0rd|passw0rd|p@ssw0rd|p@ssword|pa55word|pa55w0rd|p455w0rd|p4$$w0rd|pa$$word
de passwort~|kennwort~|losungswort|zugangscode~
fr mot de passe|mdp|code secret|phrase de passe|code d'accès
es contraseña|contrasena|clave secreta|clave de acceso|clave
ca contrasenya
gl contrasinal|clave de acceso
eu pasahitz~
pt senha|palavra-passe|palavra passe|código de acesso
it parola d'ordine|parola chiave|parola|codice segreto|codice di accesso
ro parola|parolă|parolei
nl wachtwoord~|toegangscode
af wagwoord~
lb passwuert~
sv lösenord~|losenord~
da adgangskode~|kodeord~
nb passord~
fo loyniorð~
ug پارول
is lykilorð~|aðgangsorð~
fi salasana~|tunnussana~
et salasõna~|parool~
lv parole|paroli|paroles|parolei
lt slaptažod~
pl hasło|haslo|hasła|hasłem|haseł|hasłu
cs heslo|hesla|heslem|heslu|hesle
sk heslom
sl geslo|gesla|geslom|geslu
hr lozink~|šifra|šifru|šifrom|zapork~
hu jelszó~|jelszav~|jelszo
sq fjalëkalim~
tr şifre~|sifre|parola~
az şifrə~|parol
id kata sandi|sandi|kata kunci
ms kata laluan
tl hudyat
sw nenosiri|neno la siri|neno-la-siri
vi mật khẩu
eo pasvort~
ia contrasigno
cy cyfrinair
ga pasfhocal|focal faire
gd facal-faire
ru парол~|пин-код~|кодовое слово
uk гасло|пін-код~
sr лозинк~|шифра
kk құпия сөз~|құпиясөз~
mn нууц үг~
el κωδικός πρόσβασης|κωδικός|κωδικό|κωδικού|συνθηματικ~
ka პაროლ~
hy գաղտնաբառ~
he סיסמ~|ססמ~
ar كلمة المرور|كلمة السر|كلمة مرور|كلمة سر|الرقم السري
fa گذرواژه~|رمز عبور|رمزعبور|کلمه عبور|پسورد
ur پاس ورڈ|پاسورڈ
ckb تێپەڕوشە|وشەی نهێنی
hi पासवर्ड|कूटशब्द
bn পাসওয়ার্ড|পাসওয়ার্ড
pa ਪਾਸਵਰਡ
gu પાસવર્ડ
ta கடவுச்சொல்~
te పాస్‌వర్డ్|సంకేతపదం
kn ಪಾಸ್‌ವರ್ಡ್|ಪ್ರವೇಶಪದ|ಗುಪ್ತಪದ
ml പാസ്‌വേഡ്|രഹസ്യവാക്ക്
si මුරපදය|මුර පදය
th รหัสผ่าน
lo ລະຫັດຜ່ານ
km ពាក្យសម្ងាត់|លេខសម្ងាត់|លេខសំងាត់
br ger-tremen|ger-kuzh
oc senhal
fy wachtwurd
nds passwoort~|passwoord
ky сырсөз~
tt серсүз~
mr परवलीचा शब्द|संकेतशब्द
or ପାସୱାର୍ଡ
as পাছৱৰ্ড
ps پټنوم|پاسورډ
ku şîfre~
yi פאַראָל
ha kalmar sirri
zu iphasiwedi
mi kupuhipa
my စကားဝှက်
am የይለፍ ቃል
ja パスワード|暗証番号|合言葉|パスコード
zh 密码|密碼|口令
ko 비밀번호|비밀 번호|암호|패스워드|비번
de api-schlüssel~|zugangsschlüssel~|wiederherstellungscode~
fr clé api|code de récupération
es clave api|clave de api|código de recuperación
pt chave de api|código de recuperação
it chiave api|codice di recupero
pl klucz api
zh api密钥|api密鑰|密钥
ja apiキー
"""
_USERS: Final = """
user username users login account admin as for named called
benutzer benutzers nutzer konto utilisateur utilisateurs usuario usuário usuari utente utilizador utilizatorul
gebruiker användare användaren bruger brukeren käyttäjä käyttäjän kasutaja użytkownik użytkownika uživatel uživatele
používateľa uporabnika korisnika felhasználó kullanıcı kullanıcısı istifadəçi pengguna
пользователь пользователя користувач користувача потребител корисник корисника χρήστη משתמש المستخدم کاربر
ユーザー ユーザー名 用户 使用者 用戶 사용자
"""
_TARGETS: Final = """
for from at by of via für vom von pour per voor dla för fra от для за від için untuk cho
hash digest commit revision version build release ticket issue bug error line page row column table field file module
host server port room network ssid zeile seite spalte tabelle datei ligne página fichier archivo файл строка версия 版本
"""
_RESULTS: Final = """
to is as was be now into auf ist lautet est es en a à é è na om till til er är jest je on это на είναι σε olarak adalah
ke là thành הוא به هو هي إلى है is: as: to:
"""
# The same letters of Persian and Arabic have two codes each.
_ARABIC: Final = str.maketrans("یک", "يك")
USERS: Final = frozenset(_USERS.split())
"""Words behind which somebody's name stands."""


TARGETS: Final = frozenset(_TARGETS.split())
"""Words behind which stands what a password is for, or something else that has a number."""
RESULTS: Final = frozenset(_RESULTS.split())
"""Words behind which stands what something is or becomes."""


@cache
def password_words() -> tuple[str, ...]:
    """Return the words in lower case, longest first, with `~` where endings may follow."""
    words = {word for line in _BY_LANGUAGE.strip().splitlines() for word in line.split(" ", 1)[1].split("|")}
    words |= {word.translate(_ARABIC) for word in words} | {word.replace("\u200c", "") for word in words}
    words |= {word.replace("\u09af\u09bc", "\u09df").replace("\u09dc", "\u09a1\u09bc") for word in words}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


class Anchors(NamedTuple):
    """By what the words are looked for in a text in lower case.

    An ASCII word is in a text only where one of the `grams` is, three letters that some words share: most texts have
    none of them. The other words come in the order of their highest character, so that a text whose characters end
    below it needs to be asked for none from there on.
    """

    grams: tuple[str, ...]
    words_with: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]

    def within(self, lowered: str) -> list[str]:
        """Return which of the words are in a text in lower case."""
        found = [
            word
            for gram in self.grams
            if gram in lowered
            for word in self.words_with[gram]
            if word in lowered
        ]
        if not lowered.isascii():
            highest = max(lowered)
            for word in self.others:
                if max(word) > highest:
                    break
                if word in lowered:
                    found.append(word)
        return found


@cache
def anchors() -> Anchors:
    """Return by what the words are looked for."""
    words = dict.fromkeys(word.rstrip("~") for word in password_words())
    shortest = [
        word for word in words if not any(other != word and word.startswith(other) for other in words)
    ]
    words_with: dict[str, tuple[str, ...]] = {}
    rest = [word for word in shortest if word.isascii()]
    counts = Counter(gram for word in rest for gram in _grams(word))
    while rest:  # of the first word, the gram that most words have
        gram = max(_grams(rest[0]), key=lambda gram: (counts[gram], gram))
        words_with[gram] = tuple(word for word in rest if gram in word)
        rest = [word for word in rest if gram not in word]
    others = tuple(sorted((word for word in shortest if not word.isascii()), key=max))
    return Anchors(tuple(words_with), words_with, others)


def _grams(word: str) -> set[str]:
    return {word[at : at + 3] for at in range(max(1, len(word) - 2))}
