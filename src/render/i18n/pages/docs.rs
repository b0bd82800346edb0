//! Texts of the documentation pages' layout.

/// Its texts.
pub struct DocsTexts {
    pub menu: &'static str,
    pub contents: &'static str,
    pub on_page: &'static str,
    pub search: &'static str,
    pub search_title: &'static str,
    pub query: &'static str,
    /// With `{n}` and `{query}`.
    pub found: &'static str,
    pub nothing: &'static str,
    pub name: &'static str,
    pub kind: &'static str,
    pub meaning: &'static str,
    pub parameters: &'static str,
    pub body: &'static str,
    pub answer: &'static str,
}

pub(super) const ENGLISH: DocsTexts = DocsTexts {
    menu: "Documentation",
    contents: "Documentation",
    on_page: "On this page",
    search: "Search",
    search_title: "Search the documentation",
    query: "Find words",
    found: "Sections with “{query}”: {n}",
    nothing: "No section has all of these words. Try fewer or other words.",
    name: "Name",
    kind: "Type",
    meaning: "Meaning",
    parameters: "Parameters:",
    body: "Request body:",
    answer: "Answer:",
};

pub(super) const CHINESE: DocsTexts = DocsTexts {
    menu: "文档",
    contents: "文档",
    on_page: "本页内容",
    search: "搜索",
    search_title: "搜索文档",
    query: "要查找的词",
    found: "含有“{query}”的章节：{n}",
    nothing: "没有章节含有全部这些词。请减少或更换词语。",
    name: "名称",
    kind: "类型",
    meaning: "含义",
    parameters: "参数：",
    body: "请求正文：",
    answer: "响应：",
};
