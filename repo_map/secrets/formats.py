"""The formats of secrets: what their issuers document of them, and the patterns of Yelp's detect-secrets.

A format of our own is a pattern that begins where its anchor stands and takes a token to its end, however
long it is: no part of a secret stays. Names of variables are another matter (``named_values``).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from repo_map.secrets.placeholders import is_filler, looks_random


class Format(NamedTuple):
    """One issuer's format, and what text must contain for its pattern to be worth trying."""

    name: str
    anchors: tuple[str, ...]
    """Fixed text in lower case, found whatever its case."""
    pattern: str = ""
    """What is masked, or its group ``secret``, from where the secret or what tells it begins."""
    ahead: tuple[int, ...] = (0,)
    """How many bytes ahead of the anchor the pattern begins; more than one where lengths differ."""
    detector: str = ""
    """``module.Class`` of detect-secrets, in place of a pattern."""
    is_inside: bool = False
    """Whether it may begin within a word, though its fixed text has letters and digits alone."""


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_HEX_PAIRS = "0123456789abcdef"
FORMATS: tuple[Format, ...] = (
    # Clouds.
    Format(
        "AWS key",
        ("akia", "asia", "abia", "acca"),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        is_inside=True,
    ),
    Format(
        "AWS key",
        ("akia", "asia"),
        r"(?:AKIA|ASIA)[A-Z0-9]{16}[^\n]{1,40}?[\"'](?P<secret>[A-Za-z0-9/+]{40})[\"']",
        is_inside=True,
    ),
    Format(
        "AWS session token", ("iqojb3jpz2lu", "fwogzxivyxdz"), r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[\w+/=%-]{80,}+"
    ),
    Format("AWS Bedrock key", ("absk",), r"ABSK[A-Za-z0-9+/=]{100,}+"),
    Format("AWS AppSync key", ("da2-",), r"da2-[a-z0-9]{26}(?![A-Za-z0-9])"),
    Format("Amazon MWS token", ("amzn.mws.",), rf"amzn\.mws\.{_UUID}"),
    Format("Amazon login secret", ("amzn1.oa2-cs.",), r"amzn1\.oa2-cs\.v1\.[0-9a-f]{64,}+"),
    Format(
        "Azure storage key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i:(?:Account|SharedAccess)Key)=(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})",
    ),
    Format(
        "Azure shared access signature",
        ("sig=",),
        r"sig=(?=(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){43})(?P<secret>[A-Za-z0-9+/_-]*+(?:%[0-9A-Fa-f]{2}[A-Za-z0-9+/_-]*+)*=?)",
    ),
    Format(
        "Azure client secret",
        ("q~",),
        r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![\w~-])",
        ahead=(4,),
    ),
    Format("Azure key", ("jqqj99",), r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}+", ahead=(52,)),
    Format(
        "Azure key",
        ("azse", "+ast", "+aba", "acdb", "azfu", "+arm", "+aeh", "+aio"),
        r"[A-Za-z0-9+/]{33,76}?(?:AzSe|\+ASt|\+ABa|ACDb|AzFu|\+ARm|\+AEh|\+AIo)[A-Za-z0-9+/]{5,8}={0,2}(?![A-Za-z0-9+/=])",
        ahead=(33, 42, 76),
    ),
    Format("Azure DevOps token", ("azdo",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])", ahead=(76,)),
    Format("Google key", ("aiza",), r"AIza[\w-]{35,}+"),
    Format("Google secret", ("gocspx-",), r"GOCSPX-[\w-]{20,}+"),
    Format("Google token", ("ya29.",), r"ya29\.[\w-]{20,}+(?:\.[\w-]{20,}+)*"),
    Format("Google token", ("1//0",), r"1//0[\w-]{30,}+"),
    Format("Alibaba key", ("ltai",), r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])"),
    Format("Tencent key", ("akid",), r"AKID[A-Za-z0-9]{32,}+"),
    Format("Yandex key", ("aqvn", "ycaj", "ycn"), r"(?:AQVN|YCAJ|YCN)[\w-]{32,}+"),
    Format("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{40,}+"),
    Format("Heroku key", ("hrku-",), r"HRKU-[\w-]{30,}+"),
    Format("Netlify token", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), r"nf[pcoub]_[A-Za-z0-9]{36,}+"),
    Format(
        "Vercel token",
        ("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"),
        r"(?:vc[piark]_[A-Za-z0-9]{24,}+|vercel_blob_rw_\w{20,}+)",
    ),
    Format("Cloudflare key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+"),
    Format("Cloudflare token", ("cfut_", "cfat_", "cfk_"), r"cf(?:ut|at|k)_[A-Za-z0-9]{40,}+"),
    Format(
        "Fly.io token",
        ("fo1_", "fm1a_", "fm1r_", "fm2_", "fm1_"),
        r"(?:fo1_[\w-]{40,}+|fm[12][ar]?_[A-Za-z0-9+/=_-]{60,}+)",
    ),
    Format("Render key", ("rnd_",), r"rnd_[A-Za-z0-9]{28,}+"),
    Format("Scalingo token", ("tk-us-",), r"tk-us-[\w-]{40,}+"),
    Format(
        "Supabase key", ("sbp_", "sb_secret_"), r"(?:sbp_(?:oauth_)?[0-9a-f]{40,}+|sb_secret_[\w-]{20,}+)"
    ),
    Format("PlanetScale secret", ("pscale_",), r"pscale_(?:tkn|pw|oauth|token)_[\w.=-]{30,}+"),
    Format("Neon key", ("napi_",), r"napi_[a-z0-9]{40,}+"),
    Format("Databricks token", ("dapi", "dose"), r"(?:dapi|dose)[0-9a-h]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    Format("OpenShift token", ("sha256~",), r"sha256~[\w-]{40,}+"),
    Format("IBM Cloud key", ("ibm", "bluemix"), detector="ibm_cloud_iam.IbmCloudIamDetector"),
    Format("IBM Cloud key", ("ibm", "bluemix"), detector="ibm_cos_hmac.IbmCosHmacDetector"),
    Format("Cloudant password", ("cloudant",), detector="cloudant.CloudantDetector"),
    Format("SoftLayer key", ("softlayer",), detector="softlayer.SoftlayerDetector"),
    # Code and packages.
    Format("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{30,}+(?:\.[\w-]{16,}+)*"),
    Format("GitHub token", ("github_pat_",), r"github_pat_\w{30,}+"),
    Format(
        "GitLab token",
        (
            "glpat-",
            "glptt-",
            "gldt-",
            "glft-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glimt-",
            "glffct-",
            "glwt-",
        ),
        r"gl(?:pat|ptt|dt|ft|rtr?|cbt|agent|oas|soat|imt|ffct|wt)-[\w-]{16,}+(?:\.[\w-]{2,}+)*",
    ),
    Format("GitLab token", ("gr1348941",), r"GR1348941[\w-]{20,}+"),
    Format("Bitbucket token", ("atbb", "bbdc-"), r"(?:ATBB[A-Za-z0-9]{24,}+|BBDC-[A-Za-z0-9+/@_-]{40,}+)"),
    Format(
        "Atlassian token",
        ("atatt", "atctt", "atstt", "atoa", "atot"),
        r"AT(?:ATT|CTT|STT|OA|OT)[A-Za-z0-9][\w=-]{40,}+",
    ),
    Format("npm token", ("npm_",), r"npm_[A-Za-z0-9]{30,}+"),
    Format(
        "npm token",
        ("_authtoken", "_auth"),
        r"_auth(?:Token)?[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>[\w+/=.~-]{8,}+)",
        is_inside=True,
    ),
    Format("PyPI token", ("pypi-",), r"pypi-[\w-]{50,}+"),
    Format("RubyGems key", ("rubygems_",), r"rubygems_[0-9a-f]{40,}+"),
    Format("crates.io token", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    Format("NuGet key", ("oy2",), r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    Format("Clojars token", ("clojars_",), r"CLOJARS_[0-9a-f]{40,}+"),
    Format("Docker Hub token", ("dckr_",), r"dckr_[a-z]{2,6}_[\w-]{20,}+"),
    Format("JFrog key", ("akcp", "cmvmd"), r"(?:AKCp[A-Za-z0-9]{50,}+|cmVmd[A-Za-z0-9+/]{55,}+=?)"),
    Format("SonarQube token", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[0-9a-f]{40,}+"),
    Format(
        "Sourcegraph token",
        ("sgp_", "sgd_", "slk_"),
        r"(?:sgp|sgd|slk)_(?:local_|[0-9a-f]{16}_)?[0-9a-f]{40,}+",
    ),
    Format("CircleCI token", ("ccipat_", "cciprj_"), r"CCIP(?:AT|RJ)_\w{20,}+"),
    Format("Buildkite token", ("bkua_", "bkct_", "bkaj_", "bkat_"), r"bk(?:ua|ct|aj|at)_[\w-]{30,}+"),
    Format("Octopus key", ("api-",), r"API-[A-Z0-9]{25,}+(?![\w-])"),
    Format("LaunchDarkly key", ("sdk-", "api-"), rf"(?:sdk|api)-{_UUID}(?![\w-])"),
    Format("Harness token", ("pat.", "sat."), r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20,}+"),
    Format("Postman key", ("pmak-", "pmat-"), r"PM(?:AK|AT)-[A-Za-z0-9-]{20,}+"),
    Format("ReadMe key", ("rdme_",), r"rdme_[a-z0-9]{40,}+"),
    Format("WakaTime key", ("waka_",), rf"waka_{_UUID}"),
    Format("Infracost key", ("ico-",), r"ico-[A-Za-z0-9]{32,}+"),
    Format("Prefect key", ("pnu_", "pnb_"), r"pn[ub]_[A-Za-z0-9]{30,}+"),
    Format("Snyk token", ("snyk_uat.", "snyk_sat."), r"snyk_[us]at\.[\w.=-]{40,}+"),
    Format("Cursor key", ("crsr_",), r"crsr_[0-9a-f]{40,}+"),
    Format("Thunderstore token", ("tss_",), r"tss_[A-Za-z0-9]{30,}+"),
    # Infrastructure.
    Format("Vault token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{20,}+"),
    Format("Terraform token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}+", ahead=(14,)),
    Format("Pulumi token", ("pul-",), r"pul-[0-9a-f]{40,}+"),
    Format(
        "Doppler token",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,}+",
    ),
    Format(
        "Infisical token", ("st.",), rf"st\.(?:[0-9a-f]{{24}}|{_UUID})\.[0-9a-f]{{20,}}+\.[0-9a-f]{{20,}}+"
    ),
    Format("Bitwarden token", ("0.",), rf"0\.{_UUID}\.[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{20,}}+={{0,2}}"),
    Format("Tailscale key", ("tskey-",), r"tskey-[A-Za-z0-9-]{16,}+"),
    Format(
        "1Password secret",
        ("ops_eyj", "a3-"),
        r"(?:ops_eyJ[A-Za-z0-9+/=_-]{60,}+|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
    ),
    Format("age key", ("age-secret-key-1", "age-secret-key-pq-1"), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}+"),
    Format(
        "Kubernetes bootstrap token",
        ("--token",),
        r"--token[ =](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])",
        is_inside=True,
    ),
    Format("Docker Swarm token", ("swmtkn-",), r"SWMTKN-[0-9]-[a-z0-9]{40,}+-[a-z0-9]{20,}+"),
    Format("Grafana token", ("glsa_", "glc_"), r"gl(?:sa|c)_[\w+/=]{30,}+"),
    Format("Grafana token", ("eyjriji6", "eyjrijoi"), r"eyJrI(?:joi|Ijo6)[A-Za-z0-9+/=]{40,}+"),
    Format(
        "New Relic key",
        ("nrak-", "nrii-", "nrjs-", "nrra-", "nriq-", "nrsp-"),
        r"NR(?:AK|II|JS|RA|IQ|SP)-[\w-]{19,}+",
    ),
    Format("New Relic key", ("nral",), r"[0-9a-fA-F]{36}NRAL(?![A-Za-z0-9])", ahead=(36,)),
    Format("Datadog key", ("ddapp_", "ddapi_"), r"dda(?:pp|pi)_[A-Za-z0-9]{30,}+"),
    Format("Sentry token", ("sntrys_", "sntryu_", "sntrya_", "sntryi_"), r"sntry[suai]_[\w+/=-]{40,}+"),
    Format("Honeycomb key", ("hcaik_", "hcbik_", "hcxik_", "hcamk_"), r"hc[abx](?:ik|mk)_[a-z0-9]{30,}+"),
    Format(
        "Dynatrace token", ("dt0c01.", "dt0s0", "dt0c"), r"dt0[a-z][0-9]{2}\.[A-Z0-9]{20,}+\.[A-Z0-9]{60,}+"
    ),
    # Models.
    Format(
        "OpenAI key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-"),
        r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}+",
    ),
    Format("OpenAI key", ("sk-",), r"sk-[A-Za-z0-9]{32,}+"),
    Format("OpenRouter key", ("sk-or-",), r"sk-or-(?:v[0-9]-)?[0-9a-f]{32,}+"),
    Format("Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{20,}+"),
    Format("Langfuse key", ("sk-lf-",), r"sk-lf-[0-9a-f-]{30,}+"),
    Format("Groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{36,}+"),
    Format("Cerebras key", ("csk-",), r"csk-[a-z0-9]{40,}+"),
    Format("xAI key", ("xai-",), r"xai-[A-Za-z0-9]{60,}+"),
    Format("Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}+"),
    Format("Hugging Face token", ("hf_", "api_org_"), r"(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    Format("Replicate token", ("r8_",), r"r8_[A-Za-z0-9]{34,}+"),
    Format("NVIDIA key", ("nvapi-",), r"nvapi-[\w-]{50,}+"),
    Format("Fireworks key", ("fw_",), r"fw_[A-Za-z0-9]{22,}+"),
    Format("Together key", ("tgp_v1_",), r"tgp_v1_[\w-]{36,}+"),
    Format("LangSmith key", ("lsv2_",), r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10,}+"),
    Format("Pinecone key", ("pcsk_",), r"pcsk_\w{40,}+"),
    Format("Jina key", ("jina_",), r"jina_[\w-]{50,}+"),
    Format("Tavily key", ("tvly-",), r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}+"),
    Format("Weights & Biases key", ("wandb_v1_",), r"wandb_v1_\w{40,}+"),
    Format("ElevenLabs key", ("sk_",), r"sk_[0-9a-f]{40,}+"),
    # Money.
    Format(
        "Stripe key",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_org_"),
        r"[sr]k_(?:live|test|org_live|org_test)_\w{12,}+",
    ),
    Format("Stripe webhook secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=_]{20,}+"),
    Format("Square secret", ("sq0csp-", "sq0atp-", "sq0idb-"), r"sq0[a-z]{3}-[\w-]{20,}+"),
    Format("Square secret", ("eaaa",), r"EAAA[\w-]{60}(?![\w-])"),
    Format(
        "PayPal token",
        ("access_token$production$", "access_token$sandbox$"),
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32,}+",
    ),
    Format(
        "Plaid token",
        ("access-sandbox-", "access-development-", "access-production-"),
        rf"access-(?:sandbox|development|production)-{_UUID}",
    ),
    Format("Flutterwave key", ("flwseck",), r"FLWSECK(?:_TEST)?-[0-9a-hA-H]{12,}+(?:-X)?"),
    Format(
        "Shopify token",
        ("shpat_", "shpss_", "shpca_", "shppa_", "shpua_", "shptka_"),
        r"shp(?:at|ss|ca|pa|ua|tka)_[0-9a-fA-F]{30,}+",
    ),
    Format("EasyPost key", ("eztk", "ezak"), r"EZ[AT]K[A-Za-z0-9]{54,}+"),
    Format("Shippo token", ("shippo_live_", "shippo_test_"), r"shippo_(?:live|test)_[0-9a-f]{40,}+"),
    Format("Duffel token", ("duffel_",), r"duffel_(?:live|test)_[\w=-]{40,}+"),
    Format("Lob key", ("live_", "test_"), r"(?:live|test)_[0-9a-f]{35,}+"),
    Format("Adyen key", ("aqe",), r"AQE[A-Za-z0-9+/]{80,}+={0,2}-[A-Za-z0-9+/]{20,}+={0,2}-[\w+/=!$%]{8,64}"),
    Format("SumUp key", ("sup_sk_",), r"sup_sk_[A-Za-z0-9]{20,}+"),
    Format("Polar token", ("polar_oat_", "polar_pat_"), r"polar_[op]at_[A-Za-z0-9]{30,}+"),
    Format("Lago key", ("lago_",), r"lago_key_[\w-]{20,}+"),
    Format(
        "MercadoPago token",
        ("app_usr-", "test-"),
        r"(?:APP_USR|TEST)-[0-9]{10,}+-[0-9]{6}-[0-9a-f]{32}(?:-[0-9]+)?",
    ),
    # Messages.
    Format(
        "Slack token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe."),
        r"xox[abceoprsd][A-Za-z0-9%.-]{20,}+",
    ),
    Format("Slack token", ("xapp-",), r"xapp-[0-9]-[A-Za-z0-9-]{20,}+"),
    Format(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{18,}+)",
    ),
    Format(
        "Discord webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/[0-9]{16,20}/(?P<secret>[\w-]{50,}+)",
        is_inside=True,
    ),
    Format(
        "Teams webhook",
        (".webhook.office.com/",),
        r"\.webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,}+)",
        is_inside=True,
    ),
    Format("Discord token", ("mfa.",), r"mfa\.[\w-]{80,}+"),
    Format("Telegram token", (":aa",), r"[0-9]{8,10}:AA[\w-]{33}(?![\w-])", ahead=(8, 9, 10)),
    *(
        Format("Twilio key", (f"sk{digit}", f"ac{digit}"), r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])")
        for digit in _HEX_PAIRS
    ),
    Format("SendGrid key", ("sg.",), r"SG\.[\w-]{16,}+\.[\w-]{16,}+"),
    Format("Mailgun key", ("key-",), r"key-[0-9a-f]{32}(?![\w-])"),
    Format(
        "Mailchimp key",
        ("-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"),
        r"[0-9a-f]{32}-us[0-9]{1,2}(?![\w-])",
        ahead=(32,),
    ),
    Format("Mandrill key", ("md-",), r"md-[\w-]{22}(?![\w-])"),
    Format("Brevo key", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{40,}+-[A-Za-z0-9]{12,}+"),
    Format("Resend key", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),
    Format("MailerSend token", ("mlsn.",), r"mlsn\.[0-9a-f]{40,}+"),
    Format("Facebook token", ("eaa",), r"EAA[A-Za-z0-9]{90,}+"),
    Format("Instagram token", ("igq",), r"IGQ[A-Za-z0-9_-]{90,}+"),
    Format("Intercom token", ("dg9ro",), r"dG9rO[A-Za-z0-9+/]{40,}+={0,2}"),
    Format("PostHog key", ("phx_",), r"phx_[A-Za-z0-9]{40,}+"),
    Format("Segment token", ("sgp_",), r"sgp_[A-Za-z0-9]{60,}+"),
    Format("Yandex token", ("y0_",), r"y[0-6]_[A-Za-z0-9_-]{50,}+"),
    Format(
        "Zapier webhook",
        ("hooks.zapier.com/",),
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]+/[a-z0-9/]{5,}+)",
    ),
    Format("Dropbox token", ("sl.",), r"sl\.(?:u\.)?[\w-]{100,}+"),
    Format("Twitter token", ("aaaaaaaaaaaaaaaaaaaaa",), r"A{21,22}[A-Za-z0-9%]{60,}+"),
    # Work.
    Format("Linear key", ("lin_api_", "lin_oauth_", "lin_wh_"), r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}+"),
    Format(
        "Notion token",
        ("ntn_", "secret_"),
        r"(?:ntn_[A-Za-z0-9]{36,}+|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))",
    ),
    Format(
        "Figma token",
        ("figd_", "figo_", "figu_", "figoh_", "figor_", "figuh_", "figur_"),
        r"fig(?:d|[ou][hr]?)_[\w-]{30,}+",
    ),
    Format("Airtable token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}+"),
    Format(
        "Asana token", ("1/", "2/"), r"[12]/[0-9]{14,20}(?:/[0-9]{14,20})?[:/][0-9a-f]{32}(?![A-Za-z0-9])"
    ),
    Format("ClickUp token", ("pk_",), r"pk_[0-9]{5,12}_[A-Z0-9]{32}(?![A-Za-z0-9])"),
    Format("HubSpot token", ("pat-na", "pat-eu"), rf"pat-(?:na|eu)[0-9]-{_UUID}"),
    Format("Typeform token", ("tfp_",), r"tfp_[\w.=-]{40,}+"),
    Format("Contentful token", ("cfpat-",), r"CFPAT-[\w-]{40,}+"),
    Format("Adafruit key", ("aio_",), r"aio_[A-Za-z0-9]{26,}+"),
    Format("Mapbox token", ("sk.eyj", "tk.eyj"), r"[st]k\.eyJ[\w-]{20,}+\.[\w-]{16,}+"),
    Format("Rootly key", ("rootly_",), r"rootly_[0-9a-f]{60,}+"),
    Format("Frame.io token", ("fio-u-",), r"fio-u-[\w=-]{60,}+"),
    Format("Persona key", ("persona_",), rf"persona_(?:sandbox|production)_{_UUID}"),
    Format("SettleMint token", ("sm_aat_", "sm_pat_", "sm_sat_"), r"sm_[aps]at_[A-Za-z0-9]{16,}+"),
    Format("Okta token", ("ssws ",), r"SSWS[ ]{1,3}(?P<secret>[\w-]{30,}+)"),
    Format(
        "Laravel key",
        ("base64:",),
        r"base64:(?P<secret>(?:[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{22}==))(?![A-Za-z0-9+/=])",
    ),
    # Of no one issuer.
    Format("JSON web token", ("eyj",), r"(?<!-)eyJ[\w-]{8,}+={0,2}\.[\w-]{8,}+={0,2}(?:\.[\w+/=-]*+)*"),
    Format(
        "private key",
        ("ls0tls1crudjti",),
        r"LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg)[A-Za-z0-9+/=]{40,}+",
    ),
    Format(
        "OpenVPN key",
        ("-----begin openvpn static key v1-----",),
        r"-----BEGIN OpenVPN Static key V1-----\s{1,4}(?P<secret>(?:[0-9a-f]{32}\s{1,4}){1,64})",
        is_inside=True,
    ),
    Format(
        "PuTTY key",
        ("private-lines:",),
        r"Private-Lines: [0-9]{1,3}\r?\n(?P<secret>(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|$)){1,200})",
    ),
)
"""In no order that matters: what two of them find is masked once."""

_DISCORD = re.compile(rb"\.[\w-]{6}\.[\w-]{27,}+")
_DISCORD_ID = re.compile(rb"[MNO][\w-]{22,27}")
"""Of a bot's token, the first part is a number in base64; no fixed text tells the place."""
_DISCORD_AHEAD = range(28, 22, -1)

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_WORD = _LETTERS | frozenset(b"_")
_ANYWHERE = frozenset[int]()
_ENDS_OF_WORDS = frozenset(
    {
        *("api-", "ico-", "key-", "live_", "mfa.", "pat.", "sat.", "sdk-", "test_"),
        *("sk-admin-", "sk-none-", "sk-proj-", "sk-svcacct-"),
    }
)
"""Fixed texts that other words end with, such as ``task-``: they must begin one."""
_FEWEST_FIXED = 4
_FIXED = re.compile(rf"(?=.{{{_FEWEST_FIXED}}}).*[^a-z0-9+/=]")
"""Fixed text that hashes and pictures hold by no chance: long, and with a mark that base64 lacks."""
_ESCAPE = re.compile(
    rb"(?:\\(?:[nrtbf0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}"
    rb"|(?:\x1b|\\033|\\e|\\x1b|\\u001b)\[[0-9;]{0,8}m)\Z"
)
"""Of texts, addresses and colours, each of which may end with a letter or a digit."""
_LONGEST_ESCAPE = 16
_BEFORE, AFTER = 300, 1_500
"""Bytes around an anchor that a pattern of detect-secrets is given of a longer line: none may run away."""
_JUDGED = 400
"""Bytes that tell whether a token is one; it is masked to its end."""
_BLANKS = " " * 20
_RUN = re.compile(rb"[\w-]{24}")
"""What all secrets of detect-secrets' patterns hold: loading them takes longer than masking a repository."""


def starts_within_word(source: bytes, start: int, word: frozenset[int] = _WORD) -> bool:
    """Say whether a word goes on at ``start``; what ends an escape, as in ``\\n`` or ``%3D``, is none.

    ``word`` are the bytes that words are made of.
    """
    if start == 0 or source[start - 1] not in word:
        return False
    before = source[max(start - _LONGEST_ESCAPE, 0) : start]
    # Plain searches first: most words end no escape, and the pattern takes ten times as long.
    if b"\\" not in before and b"%" not in before and b"\x1b" not in before:
        return True
    return _ESCAPE.search(before) is None


def find(source: bytes, form: Format, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield first byte, end and name of what a format finds at an anchor that begins at ``at``.

    What is empty is no secret, and tells how far there is none.
    """
    if form.detector:
        yield from _detected(source, form, at)
        return
    pattern, word = _compiled(form)
    for ahead in form.ahead:
        start = at - ahead
        if start < 0 or starts_within_word(source, start, word):
            continue
        match = pattern.match(source, start)
        if match is not None:
            first, last = match.span("secret" if pattern.groups else 0)
            value = source[first : min(last, first + _JUDGED)].decode("latin-1")
            is_secret = looks_random(value) and not is_filler(value)
            yield (first, last, form.name) if is_secret else (last, last, "")


def find_anywhere(source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield what no anchor tells, in the same form."""
    for rest in _DISCORD.finditer(source):
        for ahead in _DISCORD_AHEAD:
            start = rest.start() - ahead
            if start < 0 or source[start - 1 : start] == b"-" or starts_within_word(source, start):
                continue
            if _DISCORD_ID.fullmatch(source, start, rest.start()):
                yield start, rest.end(), "Discord token"
                break


def _detected(source: bytes, form: Format, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield what detect-secrets finds in the line around an anchor."""
    start = source.rfind(b"\n", max(at - _BEFORE, 0), at) + 1 or max(at - _BEFORE, 0)
    end = source.find(b"\n", at, at + AFTER)
    end = end if end >= 0 else at + AFTER
    if _RUN.search(source, start, end) is None:
        return
    text = source[start:end].decode("latin-1")
    if _BLANKS in text:
        return  # The patterns take cubic time in blanks.
    for pattern in _denylist(form.detector):
        for match in pattern.finditer(text):
            first, last = match.span(1 if pattern.groups and match[1] else 0)
            if not is_filler(text[first:last]):
                yield start + first, start + last, form.name


@cache
def _compiled(form: Format) -> tuple[re.Pattern[bytes], frozenset[int]]:
    """Return the pattern of a format, and the bytes that may not stand before what it finds."""
    pattern = re.compile(form.pattern.encode())
    if _ENDS_OF_WORDS.issuperset(form.anchors):
        return pattern, _WORD
    if form.is_inside or (form.ahead == (0,) and all(map(_FIXED.search, form.anchors))):
        return pattern, _ANYWHERE
    return pattern, _WORD if min(map(len, form.anchors)) < _FEWEST_FIXED else _LETTERS


@cache
def _denylist(detector: str) -> tuple[re.Pattern[str], ...]:
    # Imported here: it takes longer than most repositories need to be free of secrets.
    module, _, name = detector.partition(".")
    return tuple(getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name).denylist)
