"""User agents of persons and of machines."""

from __future__ import annotations

import pytest

from providers import visitors

PERSONS = [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Edg/126",
    "Mozilla/5.0 (Linux; Android 14; SM-T510(2019)) AppleWebKit/537.36 Chrome/126.0 Mobile",
    "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.8.0",
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "Mozilla/5.0 (Linux; Android 9; CUBOT X18 Plus) AppleWebKit/537.36 Chrome/126.0 Mobile",
    "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
    "Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16",
]
MACHINES = [
    "Mozilla/5.0",
    "Mozilla/5.0 ()",
    "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/126.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) BarracudaCentral/1.0",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) facebookexternalhit/1.1 Twitterbot/1.0",
    "ms-office; MSOffice 16",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/42.0.2311.135 Edge/12.246 Mozilla/5.0",
    "BarracudaCentral",
    "HeadlessChrome",
    "axios/1.6",
    "python-requests/2.32",
    "curl/8.5.0",
    "Wget/1.24",
    "Go-http-client/2.0",
    "okhttp/4.12.0",
    "Java/21.0.2",
    "node",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "TelegramBot (like TwitterBot)",
    "WhatsApp/2.23",
    "",
]


@pytest.mark.parametrize("agent", PERSONS)
def test_a_browser_on_a_platform_is_a_person(agent: str) -> None:
    assert visitors.is_a_person(agent)
    assert visitors.is_a_reading(is_machine=False, agent=agent)
    assert not visitors.is_a_reading(is_machine=True, agent=agent)


@pytest.mark.parametrize("agent", MACHINES)
def test_everything_else_is_a_machine(agent: str) -> None:
    assert not visitors.is_a_person(agent)


def test_an_event_without_an_agent_goes_by_the_vendors_flag() -> None:
    assert visitors.is_a_reading(is_machine=False, agent="")
    assert not visitors.is_a_reading(is_machine=True, agent="")
