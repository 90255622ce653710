//! Text from elsewhere within Markdown: it is shown as it is, makes no links and loads no images.

use explorer::escaping::escaped_line;

/// Characters that begin or end something in Markdown or HTML.
const MARKS: &str = r"\`*{}[]()<>#|~!&";

/// The text in one line, with what would be Markdown in it escaped. The text between two backquotes, as names do in
/// reports, is code.
pub(crate) fn text(text: &str) -> String {
    let text = escaped_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let mut markdown = String::with_capacity(text.len() + 16);
    for (nth, part) in parts.iter().enumerate() {
        match nth % 2 {
            // Nothing is escaped in code, and an empty pair of backquotes would begin something longer.
            1 if is_paired && !part.is_empty() => markdown.push_str(&format!("`{part}`")),
            1 => markdown.push_str(&format!("\\`{}{}", plain(part), if is_paired { "\\`" } else { "" })),
            _ => {
                if nth > 0 && !is_paired {
                    markdown.push_str("\\`");
                }
                markdown.push_str(&plain(part));
            }
        }
    }
    markdown
}

fn plain(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        let is_mark = match c {
            '_' => !in_word,
            // Editors make links of addresses by themselves.
            ':' => rest.peek() == Some(&'/'),
            '.' => markdown.to_ascii_lowercase().ends_with("www"),
            '@' => true,
            c => MARKS.contains(c),
        };
        if is_mark {
            markdown.push('\\');
        }
        markdown.push(c);
        before = c;
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn words_and_names_stay_as_they_are() {
        for words in
            ["T3 is preempted, about to write `page_views[*p]`", "lost_update.c:19", "≤ 2 · a, b: c - d"]
        {
            assert_eq!(text(words), words);
        }
    }

    #[test]
    fn what_would_be_markdown_is_escaped() {
        for (words, markdown) in [
            ("![x](http://e/x.png)", r"\!\[x\]\(http\://e/x.png\)"),
            ("[x](command:y)", r"\[x\]\(command:y\)"),
            ("<img src=x>", r"\<img src=x\>"),
            ("see www.e and a@b", r"see www\.e and a\@b"),
            ("*a* _b_ ~c~", r"\*a\* \_b\_ \~c\~"),
            ("a\n\n# b", r"a\\n\\n\# b"),
            ("`[x](y)", r"\`\[x\]\(y\)"),
            ("a `b` `[x](y)", r"a \`b\` \`\[x\]\(y\)"),
            ("``[x](y)``", r"\`\`\[x\]\(y\)\`\`"),
        ] {
            assert_eq!(text(words), markdown, "{words}");
        }
    }
}
